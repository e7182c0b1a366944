package postgres

import (
	"time"

	"footnote/chat"
)

// Chats is the chat.Store of a database. It is safe for concurrent use and lives as long as its DB.
type Chats struct {
	db *DB
}

var _ chat.Store = (*Chats)(nil)

// Chats returns the database's sessions, runs and logs.
func (db *DB) Chats() *Chats { return &Chats{db: db} }

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
