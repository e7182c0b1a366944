package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

const attempts = 3 // of a statement without effect, without a delay

// storableArgs normalises strings for the database, whose text has no NUL and only valid UTF-8. So an invalid ID is
// simply not found, and hostile text can't break a statement. It modifies args.
func storableArgs(args []any) []any {
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = legibleText(v)
		case []string:
			list := make([]string, len(v))
			for j, s := range v {
				list[j] = legibleText(s)
			}
			args[i] = list
		}
	}
	return args
}

// legibleText replaces NUL and invalid UTF-8 by U+FFFD, Unicode's replacement character.
func legibleText(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// legibleScope returns a scope with names as the database stores them.
func legibleScope(s chat.Scope) chat.Scope {
	names := make([]string, len(s.Namespaces))
	for i, name := range s.Namespaces {
		names[i] = legibleText(name)
	}
	return chat.Scope{User: legibleText(s.User), Namespaces: names}
}

// withConn calls fn with a connection, and retries it if it had no effect. patience is the timeout for all attempts:
// interactive requests fail soon while the database is down, runs and documents wait for it. Each attempt has a new
// connection, as the previous one may be broken.
func (db *DB) withConn(
	ctx context.Context, patience time.Duration, fn func(ctx context.Context, c *pgxpool.Conn) error,
) error {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for attempt := 1; ; attempt++ {
		err := db.borrowConn(limited, fn)
		if err == nil || db.closed.Load() || !isRetryable(err) || attempt >= attempts && patience <= shortTime ||
			!pauseRetry(limited, attempt) {
			return db.translateError(ctx, err)
		}
	}
}

// pauseRetry waits before a retry, with backoff. It returns false if ctx is cancelled first.
func pauseRetry(ctx context.Context, attempt int) bool {
	if attempt < attempts {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(min(time.Duration(attempt)*20*time.Millisecond, 500*time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// borrowConn calls fn with a connection of the pool. Waiting for a free one has a separate timeout, so an exhausted
// pool fails sooner.
func (db *DB) borrowConn(ctx context.Context, fn func(ctx context.Context, c *pgxpool.Conn) error) error {
	waiting, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	c, err := db.pool.Acquire(waiting)
	if err != nil {
		return err
	}
	defer c.Release()
	return fn(ctx, c)
}

// execStatement runs one statement and returns the number of changed rows.
func (db *DB) execStatement(
	ctx context.Context, patience time.Duration, statement string, args ...any,
) (n int64, err error) {
	args = storableArgs(args)
	err = db.withConn(ctx, patience, func(ctx context.Context, c *pgxpool.Conn) error {
		tag, err := c.Exec(ctx, statement, args...)
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// queryRow reads one row into dest. It returns pgx.ErrNoRows without one.
func (db *DB) queryRow(ctx context.Context, patience time.Duration, statement string, args []any, dest ...any) error {
	args = storableArgs(args)
	return db.withConn(ctx, patience, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, statement, args...).Scan(dest...)
	})
}

// scanner is a row that can be scanned.
type scanner = store.Row

// queryList returns the decoded rows of a query.
func queryList[T any](
	ctx context.Context, db *DB, patience time.Duration, read func(scanner) (T, error), statement string, args ...any,
) (list []T, err error) {
	args = storableArgs(args)
	err = db.withConn(ctx, patience, func(ctx context.Context, c *pgxpool.Conn) error {
		list, err = rowsOf(ctx, c, read, statement, args)
		return err
	})
	return list, err
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, statement string, args ...any) (pgx.Rows, error)
}

// rowsOf returns the decoded rows of a query on a connection or in a transaction, without timeout and retries.
func rowsOf[T any](
	ctx context.Context, q querier, read func(scanner) (T, error), statement string, args []any,
) (list []T, err error) {
	rows, err := q.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := read(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

// A tx is an open transaction. It is only valid in the function that it was passed to.
type tx struct {
	ctx context.Context
	pgx pgx.Tx
	db  *DB
}

// inTx runs fn in a transaction and retries it after a deadlock, so fn must be repeatable. An error of fn rolls back
// and is returned unchanged.
func (db *DB) inTx(ctx context.Context, patience time.Duration, fn func(*tx) error) error {
	return db.withConn(ctx, patience, func(ctx context.Context, c *pgxpool.Conn) error {
		return pgx.BeginFunc(ctx, c, func(t pgx.Tx) error { return fn(&tx{ctx, t, db}) })
	})
}

// scanValue reads a row of one column.
func scanValue[T any](row scanner) (v T, err error) {
	err = row.Scan(&v)
	return v, err
}
