package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Both are choices.
const (
	aloneTry   = 3 * time.Second // between attempts to be the one, and looks whether one still is
	alonePause = 3 * time.Second // before a new connection after one broke
)

// Alone has work done by one process at a time of those that name it alike on the same schema, until ctx ends. It calls
// work when this process is the one, and again when it has become that again; the context of work ends with the lease:
// when the connection that holds it breaks. The database notices a machine that is gone within 30 s. Work that must not
// run twice at a moment still has to bear it for a while: a process that lost its connection learns of it at its next
// look, when another may have begun.
func (db *DB) Alone(ctx context.Context, name string, work func(ctx context.Context)) {
	for {
		err := db.aloneOnce(ctx, name, work)
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

// aloneOnce does so on one connection until that breaks. The lease is a lock of that connection. An advisory lock of a
// session is free at once when its connection ends, so a process that dies gives it up without a time-out of ours. For
// a machine that vanishes, the server's keepalives notice: 10 s of silence and three probes 5 s apart, 25 s. The
// connection is not of the pool, which may close its own at will. The looks at it every aloneTry end the work when the
// lock may be another's by now.
//
// It returns only with an error: that of ctx, of the connection, or of the statement that takes the lock.
func (db *DB) aloneOnce(ctx context.Context, name string, work func(ctx context.Context)) error {
	conn, err := pgx.ConnectConfig(ctx, db.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the server notices anyway
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
