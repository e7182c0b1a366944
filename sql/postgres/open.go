// Package postgres stores sessions, runs and their logs (Chats), documents with their lexical index, and the job
// queue in PostgreSQL 15 or newer, for several concurrent replicas. Committed data is visible to all replicas;
// LISTEN only wakes them.
//
// Replicas only communicate through the database. Rows are locked where a rule reads before it writes, leases follow
// the database's clock (leases.go), and work for one replica at a time holds an advisory lock (exclusive.go).
//
// statement.go runs statements with timeouts and retries; failure.go classifies errors for retries. append.go and
// group.go write logs, listen.go receives notifications, runs.go starts runs, limits.go enforces limits.
// content_*.go and documents_*.go store documents, queue*.go is River with turns, copy.go exchanges all rows with a
// file of sql/sqlite. dialect.go has this database's SQL for package store.
//
// A cache here may only hold data that no other replica can change, unless a notification or a poll invalidates it.
// A retried statement must be idempotent.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/migrations"
	"github.com/footnote/footnote/sql/postings"
	"github.com/footnote/footnote/text/locale"
)

const (
	oldest       = 15 // version of PostgreSQL
	defaultConns = 10 // unless the URL sets pool_max_conns
	// Timeout for a connection: a new one, a tested one, or one from the pool.
	connectTime = 1500 * time.Millisecond
	// Timeout of statements for interactive requests, which are answered within two seconds.
	shortTime = 1800 * time.Millisecond
	longTime  = 10 * time.Second // timeout of statements that a run or a document depends on
)

// DB is a connection pool of a database. It is safe for concurrent use, and so are its ports, such as Chats. tails
// detects a log that lost its last events, as opposed to a run that another replica took over (append.go).
type DB struct {
	log      *slog.Logger
	pool     *pgxpool.Pool
	instance string // sender ID of this process's notifications
	channel  string // of the notifications; one for each schema
	closed   atomic.Bool
	tails    sync.Map    // number of the last event that this process appended to each running run, by ID
	group    group       // of appends
	limits   chat.Limits // see chat.LimitStore
	takers   userLocks
}

// CheckURL validates a database URL without connecting. Its error never contains the password.
func CheckURL(url string) error {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return errBadURL
	}
	if _, err := pgxpool.ParseConfig(url); err != nil {
		return errBadURL // the cause may contain the URL
	}
	return nil
}

// errBadURL replaces every parse error of the URL, since the driver's message contains the password.
var errBadURL = &chat.Error{
	Code: chat.CodeInvalid, Message: "DATABASE_URL is not a URL like postgres://user:password@host:5432/footnote",
}

// Open connects to the database at url and runs the pending migrations; replicas that start together take turns. ctx
// applies to Open only. It uses the first schema of the search path. It returns a *chat.Error for a database that is
// unreachable, lacks a permission, has another encoding than UTF-8, or is of an incompatible newer version.
func Open(ctx context.Context, url string, log *slog.Logger) (*DB, error) {
	db, err := openTraced(ctx, url, log, nil)
	if err != nil {
		return nil, err
	}
	if err := postings.Rebuild(ctx, db.newPostingStore(), db.logRebuild); err != nil {
		return nil, errors.Join(err, db.Close()) //nolint:contextcheck // stores queued appends in any case
	}
	return db, nil
}

// logRebuild logs the progress of rebuilding the lexical index, every hundred documents.
func (db *DB) logRebuild(done, of int) {
	if done%100 == 0 {
		db.log.Info("making the index of words anew", "documents", of, "done", done)
	}
}

// openTraced opens a database with an optional tracer, with which tests and benchmarks count statements.
func openTraced(ctx context.Context, url string, log *slog.Logger, tracer pgx.QueryTracer) (*DB, error) {
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	return openAtStep(ctx, url, log, tracer, all)
}

// openAtStep opens a database and runs the pending ones of the given migrations. Tests use it to open an earlier
// schema.
func openAtStep(
	ctx context.Context, url string, log *slog.Logger, tracer pgx.QueryTracer, all []migrations.Migration,
) (_ *DB, err error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errBadURL
	}
	if !strings.Contains(url, "pool_max_conns=") {
		config.MaxConns = defaultConns
	}
	config.ConnConfig.ConnectTimeout = connectTime
	config.PingTimeout = connectTime
	config.ConnConfig.Tracer = tracer
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "footnote"
	}
	db := &DB{log: log, instance: chat.NewID()}
	db.group.idle.L = &db.group.mu
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open the database: %w", db.translateError(ctx, err))
	}
	defer func() {
		if err != nil {
			db.pool.Close()
		}
	}()
	var version int
	var encoding, schema string
	if err := db.queryRow(ctx, shortTime,
		`SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
		coalesce(current_schema(), '')`, nil, &version, &encoding, &schema); err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if version < oldest*10000 {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
			"The database is PostgreSQL {1}; Footnote needs {2} or newer.", version/10000, oldest,
		)}
	}
	if encoding != "UTF8" {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: locale.Say(
			"The database's encoding is {1}; make one with UTF-8: CREATE DATABASE footnote ENCODING 'UTF8' TEMPLATE "+
				"template0",
			encoding)}
	}
	if schema == "" {
		return nil, &chat.Error{
			Code:    chat.CodeUnavailable,
			Message: "The database has no schema to use; create the schema public, or name one in search_path.",
		}
	}
	db.channel = "footnote " + schema
	if err := db.migrateTo(ctx, all); err != nil {
		return nil, err
	}
	return db, nil
}

// Close closes all connections after the statements in progress. Later calls return chat.CodeUnavailable. Queued
// appends are stored first. It is idempotent.
func (db *DB) Close() error {
	db.group.waitIdle(db)
	if !db.closed.Swap(true) {
		db.pool.Close()
	}
	return nil
}

// Ping reports whether the database answers, with the timeout shortTime.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.queryRow(ctx, shortTime, `SELECT 1`, nil, &one)
}
