// Package sqlite stores all data of the embedded mode in one SQLite file: sessions, runs and their logs (Chats), and
// documents with their indexes. One connection writes, four read; see writer.go for how writes share transactions.
//
// A single process uses the file at a time, so there are no notifications and no row locks, and leases only outlast
// a restart. writer.go and tx.go write, statement.go reads, dialect.go has this database's SQL for package store,
// and failure.go converts the driver's errors. content_*.go store documents in pieces, postings.go the lexical
// index, vectors*.go and signs_*.go the semantic search, queue*.go the job queue. copy*.go and snapshot.go read a
// file for another program. Only writer.go may use the writing connection, and no write may block on anything but
// the file.
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

// readerCount is the maximum number of concurrent queries. Readers don't wait for the writer: in WAL mode
// (sqlite.org/wal.html) a reader has a snapshot of the committed data. The value is an estimate.
const readerCount = 4

// lockTime is the timeout for a lock of another process on the file.
const lockTime = 5 * time.Second

// busyTimeout is the pragma that sets this timeout for a connection.
var busyTimeout = fmt.Sprintf("busy_timeout(%d)", lockTime.Milliseconds())

// DB is an open database file. It is safe for concurrent use, and so are its ports, such as Chats. mu, for the
// statement cache, and the writer's mutex are held only briefly.
//
// The writing connection is the only one that changes the file, so writes never wait for a lock in this process.
// Prepared statements are cached by their text, as their number is small.
type DB struct {
	path    string
	opened  os.FileInfo // of the database file
	log     *slog.Logger
	writing *sql.DB // one connection, used by writer for the DB's life
	readers *sql.DB // read-only
	writer  *writer
	atWork  workState

	limits chat.Limits // see chat.LimitStore

	mu    sync.RWMutex
	stmts map[string]heldStmt // on readers
}

// Open opens the database file at path, creates it if missing (in an existing directory) and runs the pending
// migrations. ctx applies to Open only. It returns a *chat.Error for a file of a newer version, one that is locked
// for more than five seconds, and one that is no database.
//
// It restricts the file's permissions first, then runs migrations, and then opens the readers, which can't write
// (query_only). It builds the lexical index and the signs of vectors of earlier versions before it returns, so no
// search uses an incomplete index.
//
// Among the pragmas, auto_vacuum is first: it only affects an empty file. The writer sets synchronous for each
// commit. busy_timeout is for other processes that read, such as a backup. cache_size is 8 MB, and
// journal_size_limit truncates the write-ahead log to 64 MiB.
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
	if err := postings.Rebuild(ctx, db.newPostingStore(), db.logRebuild); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.writer.close())
	}
	if err := db.signVectors(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.writer.close())
	}
	return db, nil
}

// connectWriter opens the writing connection. While other processes open or close the file, the switch to WAL mode
// fails at once, and SQLite does not wait itself (sqlite.org/rescode.html#busy), as each holds a lock that the
// others need. So it is retried with backoff for lockTime.
func (db *DB) connectWriter(ctx context.Context) (*sql.Conn, error) {
	pace := backoff.NewExponentialBackOff() // random delays, so that retries of several processes diverge
	pace.InitialInterval, pace.MaxInterval = 5*time.Millisecond, 100*time.Millisecond
	return backoff.Retry(ctx, func() (*sql.Conn, error) {
		conn, err := db.writing.Conn(ctx)
		if err != nil && !isBusy(err) {
			err = backoff.Permanent(err)
		}
		return conn, err
	}, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(lockTime))
}

// logRebuild logs the progress of rebuilding the lexical index, every hundred documents.
func (db *DB) logRebuild(done, of int) {
	if done%100 == 0 {
		db.log.Info("making the index of words anew", "documents", of, "done", done)
	}
}

// openPool opens a pool of at most size connections with the pragmas. _txlock starts transactions of database/sql
// with a write lock, so that two of them can't both read and then fail to write.
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
	pool.SetMaxIdleConns(size) // keep the page cache and statements of connections
	return pool, nil
}

// Close completes the accepted writes and closes the file. Later calls return chat.CodeUnavailable. The writer is
// closed first, as its last commit needs its connection. Queries in progress may fail.
func (db *DB) Close() error {
	return errors.Join(db.writer.close(), db.closePools())
}

// closePools closes prepared statements before their connections. It is idempotent.
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
