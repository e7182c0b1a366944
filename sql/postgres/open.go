// Package postgres keeps sessions, runs and their logs (Chats), documents with their index of words, and the queue of
// background work in PostgreSQL 15 or newer, for any number of replicas at once. What one commits, all see; LISTEN only
// wakes.
//
// Replicas know nothing of each other but what the database has: rows are locked where a rule reads before it writes,
// leases follow the database's clock (leases.go), and work for one replica at a time holds an advisory lock (alone.go).
// statement.go runs statements with patience and retries; failure.go says which errors may be tried again. append.go
// and group.go write logs, listen.go hears of those of others, runs.go starts runs, limits.go counts, content_*.go and
// documents_*.go keep documents, queue*.go is River with turns, copy*.go receives what `footnote migrate` brings.
// dialect.go says to package store what this database spells differently.
//
// Nothing may be remembered here that another replica can change, unless a notification or a look takes it back. A
// statement that is repeated must not act twice.
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
)

const (
	oldest       = 15 // version of PostgreSQL
	defaultConns = 10 // unless the URL says pool_max_conns
	// for a connection: a new one, one that is tested, or one that others give back
	connectTime = 1500 * time.Millisecond
	// for what a person waits for: an answer to a request comes within two seconds
	shortTime = 1800 * time.Millisecond
	longTime  = 10 * time.Second // for what a run or a document depends on
)

// DB is a pool of connections to a database. It is safe for concurrent use. Its ports are made from it: Chats and so
// on. tails is what tells a log that lost its end from one that another replica has (append.go).
type DB struct {
	log      *slog.Logger
	pool     *pgxpool.Pool
	instance string // tells this process's notifications from others'
	channel  string // of the notifications; one for each schema
	closed   atomic.Bool
	tails    sync.Map    // how far this process brought the log of each run under way, by id
	group    group       // of appends
	limits   chat.Limits // see chat.LimitStore
	takers   userLocks
}

// CheckURL says whether url can be the address of a database, in a sentence that never shows its password. It opens no
// connection.
func CheckURL(url string) error {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return errBadURL
	}
	if _, err := pgxpool.ParseConfig(url); err != nil {
		return errBadURL // the cause may quote the URL
	}
	return nil
}

// errBadURL stands for every mistake in the address, since the driver's own words quote it with its password.
var errBadURL = &chat.Error{
	Code: chat.CodeInvalid, Message: "DATABASE_URL is not a URL like postgres://user:password@host:5432/footnote",
}

// Open connects to the database at url and brings it up to this version's schema; replicas that start together take
// turns. ctx bounds the opening only. A database that can't be reached, that lacks a right, that isn't UTF-8, or that a
// newer version wrote fails with a *chat.Error that says so. The first schema of the connection's search path is used.
// The encoding must be UTF-8, since texts of any script are
// stored. A database that `footnote migrate` has begun to fill is refused until that is done.
func Open(ctx context.Context, url string, log *slog.Logger) (*DB, error) {
	db, err := openTraced(ctx, url, log, nil)
	if err != nil {
		return nil, err
	}
	err = db.checkWhole(ctx)
	if err == nil {
		err = postings.Rebuild(ctx, db.newPostingStore(), db.tellRebuild)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close()) //nolint:contextcheck // what waits is stored even if ctx is over
	}
	return db, nil
}

// tellRebuild logs how far the index of words is, at every hundredth document.
func (db *DB) tellRebuild(done, of int) {
	if done%100 == 0 {
		db.log.Info("making the index of words anew", "documents", of, "done", done)
	}
}

// openTraced opens a database with a tracer, which tests and benchmarks use to count statements; nil is none.
func openTraced(ctx context.Context, url string, log *slog.Logger, tracer pgx.QueryTracer) (*DB, error) {
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	return openAtStep(ctx, url, log, tracer, all)
}

// openAtStep opens a database and takes those of the schema's steps that are missing. Tests open a database at an
// earlier step with it.
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
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
			"The database is PostgreSQL %d; Footnote needs %d or newer.", version/10000, oldest,
		)}
	}
	if encoding != "UTF8" {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: fmt.Sprintf(
			"The database's encoding is %s; make one with UTF-8: CREATE DATABASE footnote ENCODING 'UTF8' TEMPLATE "+
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

// Close gives all connections back once what is under way has ended. Whatever is asked later fails with
// chat.CodeUnavailable. Appends that wait in a group are stored first. It may be called more than once.
func (db *DB) Close() error {
	db.group.waitIdle(db)
	if !db.closed.Swap(true) {
		db.pool.Close()
	}
	return nil
}

// Ping reports whether the database answers. It gives up after shortTime.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return db.queryRow(ctx, shortTime, `SELECT 1`, nil, &one)
}
