package sqlite

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/footnote/footnote/chat"
)

// failure converts a driver's error into a *chat.Error with a user-facing message. sql.ErrNoRows, cancelled contexts
// and errors with a code are returned unchanged. Every error of a statement is converted before it leaves the
// package. It uses the primary code, the lower byte of SQLite's code; ioFailure uses the whole.
func failure(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*chat.Error](err); ok {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return diskFull(err)
	}
	if errors.Is(err, sql.ErrConnDone) || errors.Is(err, driver.ErrBadConn) || isClosed(err) {
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The database is closed.", Hint: "Start Footnote again.", Err: err,
		}
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return diskFull(err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The database is busy. Try again in a moment.", Err: err,
		}
	case sqlite3.SQLITE_IOERR:
		return ioFailure(e)
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY:
		return openFailure(err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return &chat.Error{Code: chat.CodeUnavailable,
			Message: "The database file is damaged or isn't a database.",
			Hint:    "Restore it from a backup or use another data directory.",
			Err:     fmt.Errorf("%w: %w", chat.ErrDamaged, err)}
	}
	return err
}

// isBusy reports whether a lock of another connection caused the error.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// diskFull returns chat.CodeDiskFull, HTTP status 507, with the cause for the log.
func diskFull(err error) error {
	return &chat.Error{Code: chat.CodeDiskFull, Message: "The disk is full. Free some space and try again.", Err: err}
}

// ioFailure classifies I/O errors. A failed write is nearly always an exceeded quota or a full disk. SQLite reports
// only ENOSPC of a plain write as SQLITE_FULL, not that of a sync, a truncation or the shared-memory file.
func ioFailure(e *sqlite.Error) error {
	switch e.Code() {
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_TRUNCATE:
		return diskFull(e)
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "Disk error. Check the disk, then try again.", Err: e,
	}
}

// isClosed reports whether the pool was closed, for which database/sql exports no error.
func isClosed(err error) bool {
	return err.Error() == "sql: database is closed" || err.Error() == "sql: statement is closed"
}
