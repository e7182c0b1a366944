package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
)

// selectWebhook needs the user's name behind it.
const selectWebhook = `SELECT h.url, h.origin, h.secret, h.set_at, h.sent_at, h.failed_at, h.trouble, h.lost,
	(SELECT count(*) FROM notices o WHERE o.user = h.user AND o.kept IS NOT NULL) FROM webhooks h WHERE h.user = ?`

// scanWebhook reads a row of selectWebhook.
func scanWebhook(user string, scan func(...any) error) (chat.Webhook, error) {
	h := chat.Webhook{User: user}
	var set, sent, failed int64
	err := scan(&h.URL, &h.Origin, &h.Secret, &set, &sent, &failed, &h.Trouble, &h.Lost, &h.Waiting)
	h.SetAt, h.SentAt, h.FailedAt = timeOf(set), timeOf(sent), timeOf(failed)
	return h, err
}

// SetWebhook implements chat.Store.
func (c *Chats) SetWebhook(ctx context.Context, s chat.Scope, hook *chat.Webhook) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		if hook == nil {
			_, err := tx.exec(`DELETE FROM webhooks WHERE user = ?`, s.User)
			return err
		}
		at := toMicros(hook.SetAt)
		if _, err := tx.exec(`INSERT INTO webhooks VALUES (?, ?, ?, ?, ?, 0, 0, '', 0)
			ON CONFLICT (user) DO UPDATE SET url = excluded.url, origin = excluded.origin, secret = excluded.secret,
			set_at = excluded.set_at, sent_at = 0, failed_at = 0, trouble = '', lost = 0`,
			s.User, hook.URL, hook.Origin, hook.Secret, at); err != nil {
			return err
		}
		if _, err := tx.exec(`DELETE FROM notices WHERE user = ? AND kept IS NULL`, s.User); err != nil {
			return err
		}
		if _, err := tx.exec(`UPDATE notices SET due_at = ?, failed = 0 WHERE user = ?`, at, s.User); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO notices VALUES (?, ?, NULL, 0, ?, '{}')`, chat.NewID(), s.User, at)
		return err
	})
}

// Webhook implements chat.Store.
func (c *Chats) Webhook(ctx context.Context, s chat.Scope) (chat.Webhook, error) {
	h, err := scanWebhook(s.User, func(into ...any) error {
		return c.db.queryRow(ctx, selectWebhook, []any{s.User}, into...)
	})
	return h, notFound(err, "read a webhook", "webhook")
}

// oweNotice has the newest change of a kept question sent to its user's webhook, if there is one.
func oweNotice(tx *tx, kept chat.Standing) error {
	n := chat.NoticeOf(kept)
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("tell of a change: %w", err)
	}
	owed, err := tx.exec(`INSERT INTO notices SELECT ?1, user, ?3, 0, ?4, ?5 FROM webhooks WHERE user = ?2
		AND (SELECT count(*) FROM notices o WHERE o.user = ?2 AND o.kept IS NOT NULL) < ?6`,
		n.ID, n.User, n.KeptID, toMicros(n.Change.At), string(body), chat.MaxNotices)
	if err != nil || owed > 0 {
		return err
	}
	_, err = tx.exec(`UPDATE webhooks SET lost = lost + 1 WHERE user = ?`, n.User)
	return err
}

// ClaimNotices implements chat.Store.
func (c *Chats) ClaimNotices(
	ctx context.Context, now, until time.Time, limit int,
) (list []chat.Notice, err error) {
	var due bool
	if err := c.db.queryRow(
		ctx, `SELECT EXISTS (SELECT 1 FROM notices WHERE due_at <= ?)`, []any{toMicros(now)}, &due,
	); err != nil || !due {
		return nil, err
	}
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		list, err = dueNotices(tx, now, limit)
		for i := range list {
			n := &list[i]
			n.DueAt = until
			if n.To, err = scanWebhook(n.User, func(into ...any) error {
				return tx.queryRow(selectWebhook, []any{n.User}, into...)
			}); err != nil {
				return err
			}
			if _, err := tx.exec(`UPDATE notices SET due_at = ? WHERE id = ?`, toMicros(until), n.ID); err != nil {
				return err
			}
		}
		return err
	})
	return list, err
}

// dueNotices reads each user's longest due notice.
func dueNotices(tx *tx, now time.Time, limit int) (list []chat.Notice, err error) {
	rows, err := tx.query(`SELECT id, user, failed, body FROM (SELECT *, row_number() OVER (
		PARTITION BY user ORDER BY due_at, id) AS place FROM notices WHERE due_at <= ?) WHERE place = 1
		ORDER BY due_at, id LIMIT ?`, toMicros(now), limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n chat.Notice
		var body []byte
		if err := rows.Scan(&n.ID, &n.User, &n.Failed, &body); err != nil {
			return nil, failure(err)
		}
		if err := json.Unmarshal(body, &n); err != nil {
			return nil, fmt.Errorf("decode the notice %s: %w: %w", n.ID, chat.ErrDamaged, err)
		}
		list = append(list, n)
	}
	return list, failure(rows.Err())
}

// SettleNotice implements chat.Store.
func (c *Chats) SettleNotice(ctx context.Context, claimed chat.Notice, d chat.Delivery) (settled bool, err error) {
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		settled = false
		held := []any{claimed.ID, toMicros(claimed.DueAt)}
		statement := `DELETE FROM notices WHERE id = ? AND due_at = ?`
		if !d.Again.IsZero() {
			held = append(held, toMicros(d.Again))
			statement = `UPDATE notices SET failed = failed + 1, due_at = ?3 WHERE id = ?1 AND due_at = ?2`
		}
		n, err := tx.exec(statement, held...)
		if err != nil || n == 0 {
			return err
		}
		settled = true
		if d.Trouble == "" {
			_, err := tx.exec(`UPDATE webhooks SET sent_at = ?, failed_at = 0, trouble = '' WHERE user = ?`,
				toMicros(d.At), claimed.User)
			return err
		}
		lost := 0
		if d.Again.IsZero() && claimed.Change != nil {
			lost = 1
		}
		_, err = tx.exec(`UPDATE webhooks SET failed_at = ?, trouble = ?, lost = lost + ? WHERE user = ?`,
			toMicros(d.At), d.Trouble, lost, claimed.User)
		return err
	})
	return settled, err
}
