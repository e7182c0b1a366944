package postgres

import (
	"context"
	"fmt"
	"time"
)

// Asked implements chat.Store. A session's updated_at is never before the start of its last run, so old sessions are not looked at.
func (c *Chats) Asked(ctx context.Context, user, key string, since time.Time, n int) (time.Time, error) {
	var at int64
	err := c.db.queryRow(ctx, shortTime, `SELECT coalesce((
		SELECT r.created_at FROM sessions s JOIN runs r ON r.session = s.n
		WHERE s.user_id = $1 AND s.updated_at >= $3 AND r.created_at >= $3
			AND NOT EXISTS (SELECT FROM idempotency_keys WHERE user_id = $1 AND key = $2)
		ORDER BY r.created_at DESC, r.n DESC LIMIT 1 OFFSET $4), 0)`, []any{user, []byte(key), micros(since), n - 1}, &at)
	if err != nil {
		return time.Time{}, fmt.Errorf("count runs: %w", err)
	}
	return timeOf(at), nil
}
