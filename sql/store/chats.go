package store

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Chats is what both databases' chat.Store does alike. It has no state of its own, so any number of them may share a
// database.
type Chats struct {
	db  Database
	sql *Dialect
}

// NewChats returns the sessions, runs and logs of a database.
func NewChats(db Database, sql *Dialect) *Chats { return &Chats{db, sql} }

// asInteger is a column that says yes or no.
func asInteger(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// claimable are rows of a table, whose name is d in statements, that have something to do at times. The work on kept
// questions, tables and webhooks is shared out by it alone.
type claimable[T any] struct {
	table  string
	rows   string // a SELECT of them that read reads
	due    string // the condition that there is something to do; $1 is the present
	read   func(Row) (T, error)
	nameOf func(T) string
}

// dueUsers returns the users of rows that are due. It writes nothing.
func (r claimable[T]) dueUsers(ctx context.Context, c *Chats, now time.Time) ([]string, error) {
	users, err := readList(c.db.Alone(ctx, 0), func(row Row) (user string, err error) {
		err = row.Scan(&user)
		return user, err
	}, `SELECT DISTINCT d.user_id FROM `+r.table+` d WHERE `+r.due, ToMicros(now))
	return users, wrap(err, "look for due "+r.table)
}

// claim takes the row of a user that is due longest from other callers until a time; ok is false when none is due. Free
// leaves out rows that another process is just claiming, so neither waits. The new due time is the claim: no caller
// finds the row due before then, and when it has passed without a result, every caller does.
func (r claimable[T]) claim(
	ctx context.Context, c *Chats, user string, now, until time.Time,
) (v T, ok bool, err error) {
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		v, err = readOne(t, r.read, r.rows+` WHERE `+r.due+` AND d.user_id = $2 ORDER BY d.due_at, d.id LIMIT 1`+
			c.sql.Free("d"), ToMicros(now), user)
		if err != nil {
			return err
		}
		_, err = t.Exec(`UPDATE `+r.table+` SET due_at = $1 WHERE id = $2`, ToMicros(until), r.nameOf(v))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	return v, err == nil, wrap(err, "claim "+r.table)
}
