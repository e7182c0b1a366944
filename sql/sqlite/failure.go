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

// failure gives an error of the driver the code and the sentence that people need. It leaves sql.ErrNoRows, cancelled
// contexts and errors that carry a code as they are. Every error of a statement passes through it before it leaves the
// package. Only the lower byte of SQLite's code is looked at, its primary code; ioFailure looks at the whole.
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
			Message: "The database file is damaged or is no database.",
			Hint:    "Restore it from a backup or use another data directory.",
			Err:     fmt.Errorf("%w: %w", chat.ErrDamaged, err)}
	}
	return err
}

// isBusy reports whether a lock of another connection was in the way.
func isBusy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// diskFull is chat.CodeDiskFull, which the server tells as 507, with its cause for the log.
func diskFull(err error) error {
	return &chat.Error{Code: chat.CodeDiskFull, Message: "The disk is full. Free some space and try again.", Err: err}
}

// ioFailure sorts out the I/O errors: one of a write is nearly always a quota or a disk that ran full, since SQLite
// reports only ENOSPC of a plain write as SQLITE_FULL, not that of a sync, a truncation or the shared-memory file. Both
// look alike to the user: there is no room.
func ioFailure(e *sqlite.Error) error {
	switch e.Code() {
	case sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_TRUNCATE:
		return diskFull(e)
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "The disk reported an error. Check it, then try again.", Err: e,
	}
}

// isClosed recognises a closed pool, for which database/sql exports no error.
func isClosed(err error) bool {
	return err.Error() == "sql: database is closed" || err.Error() == "sql: statement is closed"
}
