package sqlite

import (
	"context"
	"fmt"
	"time"

	"footnote/chat"
	"footnote/sql/store"
)

const (
	purgeBatch  = 20 // sessions in one transaction, so that other writes get their turn
	keyLifetime = 24 * time.Hour
)

// Purge implements chat.Store.
func (c *Chats) Purge(ctx context.Context, hidden, idle time.Time) (int, error) {
	total := 0
	for {
		var n int64
		err := c.db.writeBulk(ctx, false, func(tx *tx) (err error) {
			n, err = purgeSome(tx, store.ToMicros(hidden), store.ToMicros(idle))
			return err
		})
		if err != nil {
			return total, fmt.Errorf("purge sessions: %w", err)
		}
		if total += int(n); n < purgeBatch {
			break
		}
	}
	err := c.db.writeTx(ctx, false, func(tx *tx) error {
		if _, err := tx.Exec(
			`DELETE FROM idempotency_keys WHERE created_at < ?`, time.Now().Add(-keyLifetime).UnixMicro(),
		); err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM spent WHERE at < ?`, time.Now().Add(-keyLifetime).UnixMicro()); err != nil {
			return err
		}
		_, err := tx.Exec(`DELETE FROM commands WHERE (SELECT status FROM runs WHERE n = run) <> 'running'`)
		return err
	})
	if err != nil {
		return total, fmt.Errorf("purge idempotency keys, spendings and commands: %w", err)
	}
	return total, nil
}

// purgeSome removes up to purgeBatch sessions. Their runs, texts, outputs and keys go by foreign keys; events, which
// have none, go by the range of their run.
func purgeSome(tx *tx, hidden, idle int64) (int64, error) {
	const gone = `SELECT n FROM sessions s WHERE deleted_at <> 0 AND deleted_at < ?1 OR deleted_at = 0
		AND updated_at < ?2
		AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.session = s.n AND r.status = 'running') ORDER BY n LIMIT +?3`
	rows, err := tx.query(`SELECT n FROM runs WHERE session IN (`+gone+`)`, hidden, idle, purgeBatch)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var run int64
		if err := rows.Scan(&run); err != nil {
			return 0, failure(err)
		}
		if _, err := tx.Exec(
			`DELETE FROM events WHERE id BETWEEN ? AND ?`, run<<seqBits, run<<seqBits|maxSeq,
		); err != nil {
			return 0, err
		}
	}
	if err := rows.Err(); err != nil {
		return 0, failure(err)
	}
	if err := hideCaptured(tx, gone, hidden, idle); err != nil {
		return 0, err
	}
	return tx.Exec(`DELETE FROM sessions WHERE n IN (`+gone+`)`, hidden, idle, purgeBatch)
}

// hideCaptured hides the web pages that the sessions' runs have read; the library removes what is hidden.
func hideCaptured(tx *tx, gone string, hidden, idle int64) error {
	rows, err := tx.query(`SELECT d.n, d.user_id FROM runs r JOIN sessions o ON o.n = r.session JOIN documents d
		ON d.user_id = o.user_id AND d.namespace = '`+chat.WebNamespace(
		"",
	)+`' || r.id
		WHERE r.session IN (`+gone+`) AND d.deleted_at = 0`, hidden, idle, purgeBatch)
	if err != nil {
		return err
	}
	type page struct {
		n    int64
		user string
	}
	var pages []page
	defer rows.Close()
	for rows.Next() {
		var p page
		if err := rows.Scan(&p.n, &p.user); err != nil {
			return failure(err)
		}
		pages = append(pages, p)
	}
	if err := rows.Err(); err != nil {
		return failure(err)
	}
	for _, p := range pages {
		if err := setHidden(tx, p.n, p.user, time.Now().UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}
