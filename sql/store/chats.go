package store

import (
	"context"
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

// claim takes up to limit rows that are due, longest due first, from other callers until a time. When nothing is due,
// which is asked often, it writes nothing. Free leaves out rows that another process is just claiming, so two processes
// get different ones at the same time and neither waits. The new due time is the claim: nobody else finds the row due
// before then, and when it has passed without a result, everybody does.
func (r claimable[T]) claim(
	ctx context.Context, c *Chats, now, until time.Time, limit int,
) (list []T, err error) {
	var due bool
	if err := c.db.Alone(ctx, 0).One(
		`SELECT EXISTS (SELECT 1 FROM `+r.table+` d WHERE `+r.due+`)`, []any{ToMicros(now)}, &due,
	); err != nil || !due {
		return nil, wrap(err, "claim "+r.table)
	}
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		list, err = readList(t, r.read, r.rows+` WHERE `+r.due+` ORDER BY d.due_at, d.id LIMIT CAST($2 AS bigint)`+
			c.sql.Free("d"), ToMicros(now), limit)
		if err != nil {
			return err
		}
		for _, v := range list {
			if _, err := t.Exec(
				`UPDATE `+r.table+` SET due_at = $1 WHERE id = $2`, ToMicros(until), r.nameOf(v),
			); err != nil {
				return err
			}
		}
		return nil
	})
	return list, wrap(err, "claim "+r.table)
}
