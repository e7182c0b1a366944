package store

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

const (
	purgeBatch = 20 // sessions in one transaction, so that other writes are not blocked

	// KeyLifetime is the retention time of idempotency keys.
	KeyLifetime = 24 * time.Hour
)

// Purge implements chat.Store. Concurrent purges skip each other's rows.
func (c *Chats) Purge(ctx context.Context, hidden, idle time.Time) (int, error) {
	total := 0
	for {
		var n int64
		err := c.db.Write(ctx, Patient|Bulk, func(t Tx) (err error) {
			n, err = c.purgeSome(t, ToMicros(hidden), ToMicros(idle))
			return err
		})
		if err != nil {
			return total, fmt.Errorf("purge sessions: %w", err)
		}
		if total += int(n); n < purgeBatch {
			break
		}
	}
	by := c.db.Autocommit(ctx, Patient)
	for _, table := range []struct{ name, at string }{{"idempotency_keys", "created_at"}, {"spent", "at"}} {
		if _, err := by.Exec(`DELETE FROM `+table.name+` WHERE `+table.at+` < (SELECT now_micros()) -
			CAST($1 AS bigint)`, KeyLifetime.Microseconds()); err != nil {
			return total, fmt.Errorf("purge %s: %w", table.name, err)
		}
	}
	_, err := by.Exec(`DELETE FROM commands WHERE (SELECT r.status FROM runs r WHERE r.n = commands.run) <> 'running'`)
	return total, wrap(err, "purge commands")
}

func scanNumber(row Row) (n int64, err error) {
	err = row.Scan(&n)
	return n, err
}

// purgeSome deletes up to purgeBatch sessions. Foreign keys delete their runs, texts, outputs and keys. Events have
// no foreign key, so that appends need no check, and are deleted by run. The run's row is locked first, so no append
// interferes. A session with a running run is never idle.
func (c *Chats) purgeSome(t Tx, hidden, idle int64) (int64, error) {
	gone, err := readList(t, scanNumber, `SELECT s.n FROM sessions s WHERE s.deleted_at <> 0 AND s.deleted_at < $1
		OR s.deleted_at = 0 AND s.updated_at < $2
		AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.session = s.n AND r.status = 'running') ORDER BY s.n
		LIMIT CAST($3 AS bigint)`+c.sql.Free("s"), hidden, idle, purgeBatch)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	sessions := c.sql.Numbers(gone)
	list, err := readList(t, scanNumber, `SELECT r.n FROM runs r WHERE `+c.sql.Among("r.session", "$1")+
		c.sql.Locked("r"), sessions)
	if err != nil {
		return 0, err
	}
	runs := c.sql.Numbers(list)
	if _, err := t.Exec(c.sql.DropEvents, runs); err != nil {
		return 0, err
	}
	if err := c.hideCaptured(t, runs); err != nil {
		return 0, err
	}
	return t.Exec(`DELETE FROM sessions WHERE `+c.sql.Among("n", "$1"), sessions)
}

// hideCaptured hides the web pages that runs have read; the library deletes hidden documents. Such a page has the
// namespace of its run (chat.WebNamespace).
func (c *Chats) hideCaptured(t Tx, runs any) error {
	type page struct {
		n    int64
		user string
	}
	pages, err := readList(t, func(row Row) (p page, err error) {
		err = row.Scan(&p.n, &p.user)
		return p, err
	}, `SELECT d.n, d.user_id FROM runs r JOIN sessions o ON o.n = r.session
		JOIN documents d ON d.user_id = o.user_id AND d.namespace = CAST($2 AS text) || r.id
		WHERE `+c.sql.Among("r.n", "$1")+` AND d.deleted_at = 0`, runs, chat.WebNamespace(""))
	if err != nil {
		return err
	}
	for _, p := range pages {
		if err := setHidden(t, c.sql, p.n, p.user, time.Now().UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}
