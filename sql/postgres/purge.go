package postgres

import (
	"context"
	"fmt"
	"time"

	"footnote/chat"
	"footnote/sql/store"
)

const (
	purgeBatch  = 50 // sessions in one transaction
	keyLifetime = 24 * time.Hour
)

// Purge implements chat.Store. Replicas may purge at the same time: each leaves alone what another is at.
func (c *Chats) Purge(ctx context.Context, hidden, idle time.Time) (int, error) {
	total := 0
	for {
		n := 0
		err := c.db.inTx(ctx, longTime, func(t *tx) (err error) {
			n, err = purgeSome(t, store.ToMicros(hidden), store.ToMicros(idle))
			return err
		})
		if err != nil {
			return total, fmt.Errorf("purge sessions: %w", err)
		}
		if total += n; n < purgeBatch {
			break
		}
	}
	if _, err := c.db.execStatement(
		ctx, longTime, `DELETE FROM idempotency_keys WHERE created_at < now_micros() - $1::bigint`,
		keyLifetime.Microseconds(),
	); err != nil {
		return total, fmt.Errorf("purge idempotency keys: %w", err)
	}
	if _, err := c.db.execStatement(
		ctx, longTime, `DELETE FROM spent WHERE at < now_micros() - $1::bigint`, keyLifetime.Microseconds(),
	); err != nil {
		return total, fmt.Errorf("purge spendings: %w", err)
	}
	if _, err := c.db.execStatement(
		ctx, longTime, `DELETE FROM commands c USING runs r WHERE r.n = c.run AND r.status <> 'running'`,
	); err != nil {
		return total, fmt.Errorf("purge commands: %w", err)
	}
	return total, nil
}

// purgeSome removes up to purgeBatch sessions. Their runs, texts, outputs and keys go by foreign keys; events, which
// have none, by their run, whose row is locked first: so no append comes in between.
func purgeSome(t *tx, hidden, idle int64) (int, error) {
	gone, err := rowsOf(t.ctx, t.pgx, scanValue[int64],
		`SELECT n FROM sessions s WHERE deleted_at <> 0 AND deleted_at < $1
		OR deleted_at = 0 AND updated_at < $2
		AND NOT EXISTS (SELECT FROM runs r WHERE r.session = s.n AND r.status = 'running') ORDER BY n
		LIMIT $3 FOR UPDATE SKIP LOCKED`,
		[]any{hidden, idle, purgeBatch})
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	runs, err := rowsOf(
		t.ctx, t.pgx, scanValue[int64], `SELECT n FROM runs WHERE session = ANY($1) FOR UPDATE`, []any{gone},
	)
	if err != nil {
		return 0, err
	}
	if _, err := t.Exec(`DELETE FROM events WHERE run = ANY($1)`, runs); err != nil {
		return 0, err
	}
	if err := hideCaptured(t, runs); err != nil {
		return 0, err
	}
	n, err := t.Exec(`DELETE FROM sessions WHERE n = ANY($1)`, gone)
	return int(n), err
}

// hideCaptured hides the web pages that runs have read; the library removes what is hidden.
func hideCaptured(t *tx, runs []int64) error {
	type page struct {
		n    int64
		user string
	}
	read := func(row scanner) (p page, err error) {
		err = row.Scan(&p.n, &p.user)
		return p, err
	}
	pages, err := rowsOf(t.ctx, t.pgx, read, `SELECT d.n, d.user_id FROM runs r JOIN sessions o ON o.n = r.session
		JOIN documents d ON d.user_id = o.user_id AND d.namespace = $2 || r.id WHERE r.n = ANY($1)
		AND d.deleted_at = 0`, []any{runs, chat.WebNamespace("")})
	if err != nil {
		return err
	}
	for _, p := range pages {
		if err := setHidden(t, p.n, p.user, time.Now().UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}
