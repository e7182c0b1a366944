package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// readOnly opens one read-only connection to the database file at path, which another process may use meanwhile. The
// caller closes the pool.
func readOnly(ctx context.Context, path string) (_ *sql.DB, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, &chat.Error{Code: chat.CodeNotFound, Message: locale.Say(
			"No database found at {1}. Check the data directory.", path,
		)}
	} else if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeNotFound, Message: locale.Say("The database at {1} can't be read", path), Err: err,
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	// With mode=ro, closing does not checkpoint the log of a crashed process.
	dsn := url.URL{
		Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(abs), "/"),
		RawQuery: url.Values{"mode": {"ro"}, "_pragma": {busyTimeout}}.Encode(),
	}
	pool, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(failure(err), pool.Close())
	}
	return pool, nil
}

// Snapshot writes a consistent copy of the database file at path to a new file, while the database is in use. It
// fails if the new file exists and is not empty. After an error, or a cancelled ctx, the new file is unusable.
// VACUUM INTO reads in one transaction and omits free pages.
func Snapshot(ctx context.Context, path, to string) (err error) {
	pool, err := readOnly(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if err := makePrivate(to); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if _, err := pool.ExecContext(ctx, `VACUUM INTO ?`, to); err != nil {
		return fmt.Errorf("copy the database: %w", failure(err))
	}
	return nil
}

// Originals returns the SHA-256 of all originals that the database file at path refers to, in order. A document with
// a newer version in progress has two: the current one and the new one.
func Originals(ctx context.Context, path string) (hashes []string, err error) {
	pool, err := readOnly(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	rows, err := pool.QueryContext(
		ctx, `SELECT sha256 FROM documents UNION SELECT sha256 FROM contents WHERE live = 1 ORDER BY 1`,
	)
	if err != nil {
		return nil, fmt.Errorf("list the originals: %w", failure(err))
	}
	defer rows.Close()
	for rows.Next() {
		var hash string
		if err := rows.Scan(&hash); err != nil {
			return nil, failure(err)
		}
		hashes = append(hashes, hash)
	}
	return hashes, failure(rows.Err())
}
