package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/footnote/footnote/chat"
)

// makePrivate creates the database file at path if missing, and restricts it to its owner. SQLite creates its
// further files with the same permissions. Permissions are only removed, never added. A file of another owner is
// unchanged.
func makePrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return openFailure(err)
	}
	if err := file.Close(); err != nil {
		return err
	}
	for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal"} {
		info, err := os.Stat(name)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(name, info.Mode().Perm()&0o700)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// openFailure returns the user-facing error for a database file that can't be opened.
func openFailure(err error) error {
	return &chat.Error{Code: chat.CodeUnavailable,
		Message: "The database file can't be opened for writing.",
		Hint:    "Check that the data directory exists and is yours.", Err: err}
}

// Blank reports whether the file at path has no database yet: it is missing, empty, or has no tables. It opens the
// file read-only.
func Blank(ctx context.Context, path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the database: %w", err)
	}
	pool, err := readOnly(ctx, path)
	if err != nil {
		return false, err
	}
	var tables int
	err = pool.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables)
	return tables == 0, errors.Join(failure(err), pool.Close())
}

// CheckFile returns an error when the database file was replaced, removed or emptied since it was opened. The open
// file still accepts writes, but they are lost at the next start.
func (db *DB) CheckFile() error {
	now, err := os.Stat(db.path)
	if err == nil && os.SameFile(now, db.opened) && now.Size() > 0 {
		return nil
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Err: err, Hint: "It was removed, replaced or emptied while the server runs.",
		Message: "The database file is damaged. Stop the server and restore a backup.",
	}
}
