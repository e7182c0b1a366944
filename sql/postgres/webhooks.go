package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
)

const webhookColumns = `h.user_id, h.url, h.origin, h.secret, h.set_at, h.sent_at, h.failed_at, h.trouble, h.lost,
	(SELECT count(*) FROM notices o WHERE o.user_id = h.user_id AND o.kept IS NOT NULL)`

// scanWebhook reads a row of webhookColumns, with further columns before it.
func scanWebhook(row scanner, before ...any) (h chat.Webhook, err error) {
	var set, sent, failed int64
	err = row.Scan(append(before,
		&h.User, &h.URL, &h.Origin, &h.Secret, &set, &sent, &failed, &h.Trouble, &h.Lost, &h.Waiting)...)
	h.SetAt, h.SentAt, h.FailedAt = timeOf(set), timeOf(sent), timeOf(failed)
	return h, err
}

// SetWebhook implements chat.Store.
func (c *Chats) SetWebhook(ctx context.Context, s chat.Scope, hook *chat.Webhook) error {
	return c.db.inTx(ctx, shortTime, func(t *tx) error {
		if hook == nil {
			_, err := t.exec(`DELETE FROM webhooks WHERE user_id = $1`, s.User)
			return err
		}
		at := toMicros(hook.SetAt)
		if _, err := t.exec(`INSERT INTO webhooks VALUES ($1, $2, $3, $4, $5, 0, 0, '', 0)
			ON CONFLICT (user_id) DO UPDATE SET url = excluded.url, origin = excluded.origin,
			secret = excluded.secret, set_at = excluded.set_at, sent_at = 0, failed_at = 0, trouble = '', lost = 0`,
			s.User, hook.URL, hook.Origin, hook.Secret, at); err != nil {
			return err
		}
		if _, err := t.exec(`DELETE FROM notices WHERE user_id = $1 AND kept IS NULL`, s.User); err != nil {
			return err
		}
		if _, err := t.exec(
			`UPDATE notices SET due_at = $1, failed = 0 WHERE user_id = $2`, at, s.User,
		); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO notices VALUES ($1, $2, NULL, 0, $3, '{}')`, chat.NewID(), s.User, at)
		return err
	})
}

// Webhook implements chat.Store.
func (c *Chats) Webhook(ctx context.Context, s chat.Scope) (h chat.Webhook, err error) {
	list, err := queryList(
		ctx, c.db, shortTime, func(row scanner) (chat.Webhook, error) { return scanWebhook(row) },
		`SELECT `+webhookColumns+` FROM webhooks h WHERE h.user_id = $1`, s.User,
	)
	switch {
	case err != nil:
		return h, fmt.Errorf("read a webhook: %w", err)
	case len(list) == 0:
		return h, chat.NoSuch("webhook")
	}
	return list[0], nil
}

// oweNotice has the newest change of a kept question sent to its user's webhook, if there is one.
func oweNotice(t *tx, kept chat.Standing) error {
	n := chat.NoticeOf(kept)
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("tell of a change: %w", err)
	}
	// The lock keeps the webhook until this is stored, and has others that owe it something wait for the count.
	var waiting int
	hooks, err := t.exec(`SELECT 1 FROM webhooks WHERE user_id = $1 FOR UPDATE`, n.User)
	if err != nil || hooks == 0 {
		return err
	}
	if err := t.queryRow(`SELECT count(*) FROM notices WHERE user_id = $1 AND kept IS NOT NULL`,
		[]any{n.User}, &waiting); err != nil {
		return err
	}
	if waiting >= chat.MaxNotices {
		_, err = t.exec(`UPDATE webhooks SET lost = lost + 1 WHERE user_id = $1`, n.User)
		return err
	}
	_, err = t.exec(`INSERT INTO notices VALUES ($1, $2, $3, 0, $4, $5)`,
		n.ID, n.User, n.KeptID, toMicros(n.Change.At), string(body))
	return err
}

// ClaimNotices implements chat.Store.
func (c *Chats) ClaimNotices(ctx context.Context, now, until time.Time, limit int) ([]chat.Notice, error) {
	list, err := queryList(ctx, c.db, shortTime, func(row scanner) (n chat.Notice, err error) {
		var body []byte
		var due int64
		if n.To, err = scanWebhook(row, &n.ID, &n.Failed, &due, &body); err != nil {
			return n, err
		}
		n.User, n.DueAt = n.To.User, timeOf(due)
		if err := json.Unmarshal(body, &n); err != nil {
			return n, fmt.Errorf("decode the notice %s: %w: %w", n.ID, chat.ErrDamaged, err)
		}
		return n, nil
	}, `UPDATE notices n SET due_at = $2 FROM webhooks h WHERE h.user_id = n.user_id AND n.id IN (
		SELECT d.id FROM notices d WHERE d.due_at <= $1 AND d.id IN (
			SELECT DISTINCT ON (user_id) id FROM notices WHERE due_at <= $1 ORDER BY user_id, due_at, id)
		ORDER BY d.due_at, d.id LIMIT $3 FOR UPDATE SKIP LOCKED)
		RETURNING n.id, n.failed, n.due_at, n.body, `+webhookColumns, toMicros(now), toMicros(until), limit)
	if err != nil {
		return nil, fmt.Errorf("claim notices: %w", err)
	}
	return list, nil
}

// SettleNotice implements chat.Store.
func (c *Chats) SettleNotice(ctx context.Context, claimed chat.Notice, d chat.Delivery) (settled bool, err error) {
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		settled = false
		held := []any{claimed.ID, toMicros(claimed.DueAt)}
		statement := `DELETE FROM notices WHERE id = $1 AND due_at = $2`
		if !d.Again.IsZero() {
			held = append(held, toMicros(d.Again))
			statement = `UPDATE notices SET failed = failed + 1, due_at = $3 WHERE id = $1 AND due_at = $2`
		}
		n, err := t.exec(statement, held...)
		if err != nil || n == 0 {
			return err
		}
		settled = true
		if d.Trouble == "" {
			_, err := t.exec(`UPDATE webhooks SET sent_at = $1, failed_at = 0, trouble = '' WHERE user_id = $2`,
				toMicros(d.At), claimed.User)
			return err
		}
		lost := 0
		if d.Again.IsZero() && claimed.Change != nil {
			lost = 1
		}
		_, err = t.exec(`UPDATE webhooks SET failed_at = $1, trouble = $2, lost = lost + $3 WHERE user_id = $4`,
			toMicros(d.At), d.Trouble, lost, claimed.User)
		return err
	})
	return settled, err
}
