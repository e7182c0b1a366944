package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"footnote/chat"
)

// Chats is the chat.Store of an open database. It is safe for concurrent use and lives as long as its DB.
type Chats struct {
	db *DB
}

var _ chat.Store = (*Chats)(nil)

// Chats returns the database's sessions, runs and logs.
func (db *DB) Chats() *Chats { return &Chats{db: db} }

// notFound turns sql.ErrNoRows into the error for a thing that is not there or not the caller's, and names op on
// others.
func notFound(err error, op, thing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return chat.NoSuch(thing)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// changedOne is notFound for a statement that must change a row.
func changedOne(n int64, err error, op, thing string) error {
	if err == nil && n == 0 {
		err = sql.ErrNoRows
	}
	return notFound(err, op, thing)
}

// toMicros and timeOf convert between times and the database's microseconds, in which 0 is no time.
func toMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
