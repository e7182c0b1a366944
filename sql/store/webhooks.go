package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

// webhookColumns are the columns for scanWebhook. The greeting of a new webhook has no kept question (kept is NULL)
// and is not counted as waiting.
const webhookColumns = `h.user_id, h.url, h.origin, h.secret, h.set_at, h.sent_at, h.failed_at, h.trouble, h.lost,
	h.local,
	(SELECT count(*) FROM notices o WHERE o.user_id = h.user_id AND o.kept IS NOT NULL)`

// scanWebhook decodes a row of webhookColumns, after further columns.
func scanWebhook(row Row, before ...any) (h chat.Webhook, err error) {
	var set, sent, failed int64
	err = row.Scan(append(before,
		&h.User, &h.URL, &h.Origin, &h.Secret, &set, &sent, &failed, &h.Trouble, &h.Lost, &h.Local,
		&h.Waiting)...)
	h.SetAt, h.SentAt, h.FailedAt = TimeOf(set), TimeOf(sent), TimeOf(failed)
	return h, err
}

// SetWebhook implements chat.Store. Queued notices are due at once at the new address, without earlier failures,
// which the old address may have caused. A greeting is queued as well, so that the user sees whether the address
// works.
func (c *Chats) SetWebhook(ctx context.Context, s chat.Scope, hook *chat.Webhook) error {
	return c.db.Write(ctx, Durable, func(t Tx) error {
		if hook == nil {
			_, err := t.Exec(`DELETE FROM webhooks WHERE user_id = $1`, s.User)
			return err
		}
		at := ToMicros(hook.SetAt)
		if _, err := t.Exec(`INSERT INTO webhooks (user_id, url, origin, secret, set_at, sent_at, failed_at, trouble,
			lost, local) VALUES ($1, $2, $3, $4, $5, 0, 0, '', 0, $6)
			ON CONFLICT (user_id) DO UPDATE SET url = excluded.url, origin = excluded.origin,
			secret = excluded.secret, set_at = excluded.set_at, sent_at = 0, failed_at = 0, trouble = '', lost = 0,
			local = excluded.local`, s.User, hook.URL, hook.Origin, hook.Secret, at, hook.Local); err != nil {
			return err
		}
		if _, err := t.Exec(`DELETE FROM notices WHERE user_id = $1 AND kept IS NULL`, s.User); err != nil {
			return err
		}
		if _, err := t.Exec(`UPDATE notices SET due_at = $1, failed = 0 WHERE user_id = $2`, at, s.User); err != nil {
			return err
		}
		_, err := t.Exec(`INSERT INTO notices (id, user_id, kept, failed, due_at, body)
			VALUES ($1, $2, NULL, 0, $3, '{}')`, chat.NewID(), s.User, at)
		return err
	})
}

// Webhook implements chat.Store.
func (c *Chats) Webhook(ctx context.Context, s chat.Scope) (chat.Webhook, error) {
	h, err := readOne(c.db.Autocommit(ctx, 0), func(row Row) (chat.Webhook, error) { return scanWebhook(row) },
		`SELECT `+webhookColumns+` FROM webhooks h WHERE h.user_id = $1`, s.User)
	return h, NotFound(err, "read a webhook", "webhook")
}

// queueNotice queues a notice of a kept question's newest change, if its user has a webhook.
func (c *Chats) queueNotice(t Tx, kept chat.Standing) error {
	n := chat.NoticeOf(kept)
	body, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("queue a notice: %w", err)
	}
	// The lock keeps the webhook until the commit, and serialises concurrent counts.
	var user string
	err = t.One(`SELECT h.user_id FROM webhooks h WHERE h.user_id = $1`+c.sql.Locked("h"), []any{n.User}, &user)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	var waiting int
	if err := t.One(`SELECT count(*) FROM notices WHERE user_id = $1 AND kept IS NOT NULL`,
		[]any{n.User}, &waiting); err != nil {
		return err
	}
	if waiting >= chat.MaxNotices {
		_, err = t.Exec(`UPDATE webhooks SET lost = lost + 1 WHERE user_id = $1`, n.User)
		return err
	}
	_, err = t.Exec(`INSERT INTO notices (id, user_id, kept, failed, due_at, body) VALUES ($1, $2, $3, 0, $4, $5)`,
		n.ID, n.User, n.KeptID, ToMicros(n.Change.At), string(body))
	return err
}

// scanNotice decodes a notice with its webhook as of the claim.
func scanNotice(row Row) (n chat.Notice, err error) {
	var body []byte
	if n.To, err = scanWebhook(row, &n.ID, &n.Failed, &body); err != nil {
		return n, err
	}
	n.User = n.To.User
	if err := json.Unmarshal(body, &n); err != nil {
		return n, fmt.Errorf("decode the notice %s: %w: %w", n.ID, chat.ErrDamaged, err)
	}
	return n, nil
}

// dueNotices selects the notices to send.
var dueNotices = claimable[chat.Notice]{
	table: "notices", rows: `SELECT d.id, d.failed, d.body, ` + webhookColumns + `
		FROM notices d JOIN webhooks h ON h.user_id = d.user_id`,
	due: `d.due_at <= $1`, read: scanNotice, nameOf: func(n chat.Notice) string { return n.ID },
}

// DueNotices implements chat.Store.
func (c *Chats) DueNotices(ctx context.Context, now time.Time) ([]string, error) {
	return dueNotices.dueUsers(ctx, c, now)
}

// ClaimNotice implements chat.Store.
func (c *Chats) ClaimNotice(ctx context.Context, user string, now, until time.Time) (chat.Notice, bool, error) {
	n, ok, err := dueNotices.claim(ctx, c, user, now, until)
	n.DueAt = until
	return n, ok, err
}

// SettleNotice implements chat.Store. due_at is the claim's token: if another server has claimed the notice, no row
// changes, and the webhook is not updated either.
func (c *Chats) SettleNotice(ctx context.Context, claimed chat.Notice, d chat.Delivery) (settled bool, err error) {
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		settled = false
		held := []any{claimed.ID, ToMicros(claimed.DueAt)}
		statement := `DELETE FROM notices WHERE id = $1 AND due_at = $2`
		if !d.Again.IsZero() {
			held = append(held, ToMicros(d.Again))
			statement = `UPDATE notices SET failed = failed + 1, due_at = $3 WHERE id = $1 AND due_at = $2`
		}
		n, err := t.Exec(statement, held...)
		if err != nil || n == 0 {
			return err
		}
		settled = true
		if d.Trouble == "" {
			_, err := t.Exec(`UPDATE webhooks SET sent_at = $1, failed_at = 0, trouble = '' WHERE user_id = $2`,
				ToMicros(d.At), claimed.User)
			return err
		}
		lost := 0
		if d.Again.IsZero() && claimed.Change != nil {
			lost = 1
		}
		_, err = t.Exec(`UPDATE webhooks SET failed_at = $1, trouble = $2, lost = lost + $3 WHERE user_id = $4`,
			ToMicros(d.At), d.Trouble, lost, claimed.User)
		return err
	})
	return settled, err
}
