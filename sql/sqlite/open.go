// Package sqlite keeps everything of the embedded mode in one SQLite file: sessions, runs and their logs (Chats), and
// documents with their indexes. One connection writes, four read; see writer.go for how writes share transactions.
//
// One process has the file at a time, so nobody has to be told of writes, no row is locked, and leases only outlive a
// restart. writer.go and tx.go write, statement.go reads, dialect.go says to package store what this database spells
// differently; failure.go turns the driver's errors into sentences. content_*.go hold documents in pieces, postings.go
// the index of words, vectors*.go and signs_*.go the search by meaning, queue*.go the background work, copy*.go and
// snapshot.go read a file for another program. Nothing outside writer.go may use the writing connection, and no write
// may wait for anything but the file.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/postings"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// readerCount bounds the queries that run at the same time. Readers don't wait for the writer: the file is in WAL mode
// (sqlite.org/wal.html), in which a reader sees what was committed when it began. Four is a choice.
const readerCount = 4

// lockTime is how long a lock of another process on the file is waited for.
const lockTime = 5 * time.Second

// busyTimeout is the pragma that has each connection wait for so long.
var busyTimeout = fmt.Sprintf("busy_timeout(%d)", lockTime.Milliseconds())

// DB is an open database file. It is safe for concurrent use. Its ports are made from it: Chats and so on. Two mutexes
// are held for moments only: mu for the map of statements, and the writer's own.
//
// The writing connection is the only one that changes the file, so no write ever waits for a lock of another one in
// this process. Prepared statements are kept by their text, for they are the same few each time.
type DB struct {
	path    string
	opened  os.FileInfo // of the database file
	log     *slog.Logger
	writing *sql.DB // one connection, lent to writer for the DB's life
	readers *sql.DB // read-only
	writer  *writer
	atWork  atWork

	limits chat.Limits // see chat.LimitStore

	mu    sync.RWMutex
	stmts map[string]heldStmt // on readers
}

// Open opens the database file at path, makes it if it is not there (its directory must be) and brings it up to this
// version's schema. ctx bounds the opening only. A file of a newer version, one that is locked for more than five
// seconds and one that is no database each fail with a *chat.Error that says so. The steps: the file's rights before
// anything is in it, then the schema, and only then the readers, which may not write (query_only). What an earlier
// version left undone, the index of words and the signs of vectors, is made before it returns, so the caller never
// searches half an index.
//
// Of the pragmas, auto_vacuum comes first: it has an effect on an empty file only. synchronous is switched by the
// writer for each commit, busy_timeout is for other processes that read, such as a backup, cache_size is 8 MB, and
// journal_size_limit cuts the write-ahead log back to 64 MiB after it was larger.
func Open(ctx context.Context, path string, log *slog.Logger) (_ *DB, err error) {
	db := &DB{path: path, log: log, stmts: make(map[string]heldStmt)}
	defer func() {
		if err != nil {
			err = errors.Join(failure(err), db.closePools())
		}
	}()
	if err := makePrivate(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if db.writing, err = openPool(path, 1,
		"auto_vacuum(INCREMENTAL)", "journal_mode(WAL)", busyTimeout, "synchronous(NORMAL)", "foreign_keys(1)",
		"cache_size(-8000)", "journal_size_limit(67108864)"); err != nil {
		return nil, err
	}
	conn, err := db.connectWriter(ctx)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := migrateSchema(ctx, conn, log); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if db.readers, err = openPool(path, readerCount, busyTimeout, "query_only(1)"); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if db.writer, err = startWriter(ctx, conn, log); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if db.opened, err = os.Stat(path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := postings.Rebuild(ctx, db.newPostingStore(), db.tellRebuild); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.writer.close())
	}
	if err := db.signVectors(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.writer.close())
	}
	return db, nil
}

// connectWriter makes the writing connection. Where other processes open or close the file at the same moment, the
// switch to WAL mode is refused at once, and SQLite does not wait by itself (sqlite.org/rescode.html#busy): each holds
// a lock that the others need. So it is tried again, for as long as any lock is waited for.
func (db *DB) connectWriter(ctx context.Context) (*sql.Conn, error) {
	pace := backoff.NewExponentialBackOff() // spreads each pause at random, so that they do not meet again
	pace.InitialInterval, pace.MaxInterval = 5*time.Millisecond, 100*time.Millisecond
	return backoff.Retry(ctx, func() (*sql.Conn, error) {
		conn, err := db.writing.Conn(ctx)
		if err != nil && !isBusy(err) {
			err = backoff.Permanent(err)
		}
		return conn, err
	}, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(lockTime))
}

// tellRebuild logs how far the index of words is, at every hundredth document.
func (db *DB) tellRebuild(done, of int) {
	if done%100 == 0 {
		db.log.Info("making the index of words anew", "documents", of, "done", done)
	}
}

// openPool opens a pool of at most size connections, each set up with the pragmas. _txlock makes transactions of
// database/sql begin with a write lock, so that two of them can't both read and then fail to write.
func openPool(path string, size int, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	name := filepath.ToSlash(abs)
	if !strings.HasPrefix(name, "/") {
		name = "/" + name // C:/data becomes /C:/data
	}
	dsn := url.URL{Scheme: "file", Path: name}
	dsn.RawQuery = url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}.Encode()
	pool, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size) // a connection's page cache and statements are worth keeping
	return pool, nil
}

// Close finishes the writes that were accepted and closes the file. Calls that come later fail with
// chat.CodeUnavailable. The writer goes first: its last commit needs its connection. Queries that are under way are
// not waited for and may fail.
func (db *DB) Close() error {
	return errors.Join(db.writer.close(), db.closePools())
}

// closePools closes prepared statements before their connections. It may be called again.
func (db *DB) closePools() error {
	var errs []error
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, stmt := range db.stmts {
		errs = append(errs, stmt.Close())
	}
	clear(db.stmts)
	for _, pool := range []*sql.DB{db.readers, db.writing} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}
