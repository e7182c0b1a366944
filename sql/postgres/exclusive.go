package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Retry intervals; the values are estimates.
const (
	aloneTry   = 3 * time.Second // between attempts to take the lease, and between checks of the connection
	alonePause = 3 * time.Second // before a new connection after one broke
)

// RunExclusively runs work in one process at a time, among those with the same name and schema, until ctx is cancelled.
// It calls work each time when this process gets the lease. work's context is cancelled when the lease ends, which is
// when its connection breaks. The database detects a machine that is gone within 30 s.
//
// work may run twice for a short time: a process that lost its connection notices that at its next check, when
// another may have started.
func (db *DB) RunExclusively(ctx context.Context, name string, work func(ctx context.Context)) {
	for {
		err := db.tryExclusively(ctx, name, work)
		if ctx.Err() != nil {
			return
		}
		db.log.WarnContext(ctx, "no lease just now", "of", name, "error", err)
		select {
		case <-time.After(alonePause):
		case <-ctx.Done():
			return
		}
	}
}

// tryExclusively does so on one connection until it breaks. The lease is a session-level advisory lock, which the
// database frees when the connection closes. So it needs no timeout when a process dies. For a machine that
// vanishes, TCP keepalives end the session: 10 s idle and three probes 5 s apart, 25 s in all. The connection is not
// from the pool, which may close its own. A ping every aloneTry cancels work when another process may have the lock.
//
// It always returns an error: that of ctx, of the connection, or of the statement that takes the lock.
func (db *DB) tryExclusively(ctx context.Context, name string, work func(ctx context.Context)) error {
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the server detects a closed connection anyway
	if _, err := conn.Exec(ctx, `SELECT set_config('tcp_keepalives_idle', '10', false),
		set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3',
			false)`); err != nil {
		return fmt.Errorf("set the time after which a lease ends: %w", err)
	}
	tick := time.NewTicker(aloneTry)
	defer tick.Stop()
	for ours := false; !ours; {
		if err := conn.QueryRow(
			ctx, `SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ' alone ' || $1, 0))`, name,
		).Scan(&ours); err != nil {
			return fmt.Errorf("take a lease: %w", err)
		}
		if ours {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	leased, end := context.WithCancel(ctx)
	var working sync.WaitGroup
	defer working.Wait()
	defer end()
	working.Go(func() { work(leased) })
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := isAnswering(ctx, conn); err != nil {
			return err
		}
	}
}
