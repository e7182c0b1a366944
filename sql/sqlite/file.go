package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/footnote/footnote/chat"
)

// makePrivate makes the database file at path, if it is not there, and lets only its owner use it. SQLite gives the
// files beside it, which it makes later, the same rights. Rights are only taken away, never given. A file of another
// owner stays as it is.
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

// openFailure says that a database file can't be used.
func openFailure(err error) error {
	return &chat.Error{Code: chat.CodeUnavailable,
		Message: "The database file can't be opened for writing.",
		Hint:    "Check that the data directory exists and is yours.", Err: err}
}

// Blank reports whether the file at path holds no database yet: it is not there, or it is empty, or nothing was ever
// stored in it. It opens the file read-only, so it changes nothing of it.
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

// CheckFile fails when the database file is not the one that was opened, or is empty: then what is stored now is lost
// at the next start. A file that was replaced is still open and takes writes, which nobody will find again.
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
