// Package store holds what the stores of both databases do alike: one text of each statement, in the SQL that SQLite
// and PostgreSQL share, and the rules around it. What differs is the Database's: how it runs statements, and the words
// of its Dialect. What only one of them does, and what each does in a way of its own, stays in its package.
//
// What comes in are the domain's types, what goes out are those again or a chat.Error; no row and no error of a driver
// leaves the package unexplained.
//
// Three things must hold. A statement's text is fixed, since it stays prepared; what depends on a request is an
// argument. Whatever a rule reads before it writes is locked in the same transaction, by the row (Dialect.Locked) or by
// a name (Tx.Lock), or two processes on PostgreSQL both find room for the last one. And a function given to Write may
// run again, so it begins by setting what it captured.
//
// To add a column, write a migration in sql/sqlite/migrations and in sql/postgres/migrations, name it in the statements
// here, and add it to the tables of sql/dbcopy and of sql/sqlite/copy.go, whose tests fail without it.
package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/cursor"
)

// Care says what a caller expects of a statement or a transaction. The values are bits and may be joined.
type Care uint8

const (
	// Durable has what is written survive power loss once the call has returned. SQLite needs to be told: what is
	// not durable there survives the end of the process, and power loss after the next durable write.
	Durable Care = 1 << iota
	// Patient is of what a run or a document depends on: a database that is away is waited for longer than a person
	// waits for a page.
	Patient
	// Bulk is of long work, for which SQLite's small writes do not wait.
	Bulk
	// Once is of statements whose text depends on what is asked for, so that they are not kept prepared.
	Once
)

// Row is a row that can be read.
type Row interface{ Scan(dest ...any) error }

// Rows are the rows that a statement returned. They are lent: whoever reads them must not keep them, and the runner
// closes them.
type Rows interface {
	Row
	Next() bool
}

// Statements runs statements: within a transaction, or each in one of its own. Parameters are written $1, $2 and so on,
// in any order and as often as needed. The text of statements must be fixed, as they stay prepared.
type Statements interface {
	// Exec runs a statement and returns the number of rows that it changed.
	Exec(statement string, args ...any) (changed int64, err error)

	// Tell is Exec for a statement without a RETURNING of its own that other processes are to know of: when it has
	// changed rows and is committed, they are told what it is about.
	Tell(about, statement string, args ...any) (changed int64, err error)

	// One reads one row into dest. It fails with sql.ErrNoRows if there is none. Outside a transaction the statement
	// must not write.
	One(statement string, args []any, dest ...any) error

	// Query lends the rows of a statement to read, again from the beginning if the statement had to be repeated. read
	// must not run other statements. Outside a transaction the statement must not write.
	Query(statement string, args []any, read func(Rows) error) error
}

// Tx is an open transaction. It must not be kept beyond the function it was given to.
type Tx interface {
	Statements

	// Lock keeps other transactions that lock the same name waiting until this one ends.
	Lock(kind, name string) error
}

// Database runs statements and transactions. Both implementations are named engine, in dialect.go of their packages.
type Database interface {
	// Alone returns what runs each statement in a transaction of its own.
	Alone(ctx context.Context, care Care) Statements

	// Write runs fn in a transaction, again if another one undid it; what fn captured must bear that. An error of fn
	// undoes everything and is returned as it is.
	Write(ctx context.Context, care Care, fn func(Tx) error) error

	// LimitsOf returns the limits of a user.
	LimitsOf(user string) chat.Limits

	// Spend counts n if a user's limits have room for it. Other spendings of the user wait until the transaction ends.
	Spend(t Tx, limits chat.Limits, user string, what chat.Resource, n int64) error

	// Violates reports whether err is about a row that a unique index forbids.
	Violates(err error, index string) bool
}

// Dialect is what the two databases write differently. Where both can be served by one spelling, that stands in the
// statement instead: CAST rather than ::, coalesce, and now_micros() for the database's clock.
type Dialect struct {
	// Locked ends a SELECT whose rows nobody else may change before the transaction ends; of names the one of several
	// tables that is meant. Where one transaction writes at a time, it is nothing.
	Locked func(of string) string

	// Free is Locked for rows that nobody has locked at the moment; the others are left out.
	Free func(of string) string

	// Bytewise has a column sorted by its bytes.
	Bytewise string

	// Contains is the condition that one text stands in another.
	Contains func(text, part string) string

	// Field is a field of a column that holds JSON as text.
	Field func(column, name string) string

	// Age is a column of tables without a number that grows with every row.
	Age string

	// Bytes is an argument for a column that holds a text with whatever bytes it has; nil is NULL.
	Bytes func([]byte) any

	// InScope restricts what has a user and a namespace (as d) to a scope: $1 is the user, and $2 the namespaces, as
	// Names has them.
	InScope string

	// Names is an argument that holds a list of names.
	Names func([]string) any

	// Numbers is an argument that holds a list of numbers.
	Numbers func([]int64) any

	// Among is the condition that a value is in the list that a parameter holds.
	Among func(value, list string) string

	// Scope is a scope as the database has its names.
	Scope func(chat.Scope) chat.Scope

	// Object is an argument for a column of meta.
	Object func(map[string]any) (string, error)

	// Filter adds what a filter asks for by ids and meta.
	Filter func(where *Conditions, f corpus.Filter) error

	// SelectMetaTexts reads the texts that documents (as d) have under the key $3, up to a condition on documents.
	SelectMetaTexts string

	// MarkChanged gives document $1 the number $2 of a change that searches can see.
	MarkChanged string

	// TextColumns are what ScanText reads of passages (as p), behind others, for the text of one. OfText is joined to
	// passages for them.
	TextColumns, OfText string
	ScanText            func(row Row, others ...any) (string, error)

	// Wanted are the passages (as p) with the ids that $3 has, and their contents (as c); wanted.key is their order.
	Wanted string

	// Staying restricts documents (as d) to those that no purge takes away, and Serving contents (as c) to those that
	// a document has, where the table holds others too.
	Staying, Serving string

	// Live restricts segments of the index of words to those that searches see.
	Live string

	// SelectSpans reads of what changed after $1 its number, the document's id, user and namespace, whether it is
	// visible, its first row and its lengths.
	SelectSpans string

	// SelectUnindexed reads of contents that are not indexed the number, owner, change, first row and passages.
	SelectUnindexed string

	// DropEvents removes the events of the runs whose numbers $1 has.
	DropEvents string

	// SelectSession reads what scanSession does of sessions (as s).
	SelectSession string

	// SetHead shows the branch of run $1 of session $2 of user $3.
	SetHead string

	// SelectRun reads what ScanRun does of runs (as r) and sessions (as s).
	SelectRun string
}

// readList makes a list of the rows that a statement returns. A repeated query begins with an empty list, so rows of a
// broken first try are not there twice.
func readList[T any](
	by Statements, read func(Row) (T, error), statement string, args ...any,
) (list []T, err error) {
	err = by.Query(statement, args, func(rows Rows) error {
		list = nil
		for rows.Next() {
			v, err := read(rows)
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		return nil
	})
	return list, err
}

// readOne reads the first row that a statement returns. It fails with sql.ErrNoRows if there is none. It reads all rows
// and is for statements that return one or none.
func readOne[T any](by Statements, read func(Row) (T, error), statement string, args ...any) (v T, err error) {
	list, err := readList(by, read, statement, args...)
	if err == nil && len(list) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return v, err
	}
	return list[0], nil
}

// numbered is an entry of a list with its number. The number breaks ties between entries of the same time, in the order
// and in the cursor.
type numbered[T any] struct {
	n     int64
	entry T
}

// pageOf makes a page of up to limit entries of what was read for it, one more if there are more, and the cursor of the
// next page. Reading one more than is shown tells whether there is a next page without counting.
func pageOf[T any](found []numbered[T], limit int, at func(T) time.Time) (page []T, next string) {
	if len(found) > limit {
		found = found[:limit]
		next = cursor.After(at(found[limit-1].entry), found[limit-1].n)
	}
	page = make([]T, len(found))
	for i, f := range found {
		page[i] = f.entry
	}
	return page, next
}

// NotFound turns sql.ErrNoRows into the error for a thing that is not there or not the caller's, and names op on
// others. Another user's thing gives the same error, as its row is not found by a statement that names the user.
func NotFound(err error, op, thing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return chat.NoSuch(thing)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// ChangedOne is NotFound for a statement that must change a row. The statement itself says whose row it may be, so no
// look before it is needed.
func ChangedOne(n int64, err error, op, thing string) error {
	if err == nil && n == 0 {
		err = sql.ErrNoRows
	}
	return NotFound(err, op, thing)
}

// ToMicros is a time as the databases store it: in microseconds since 1970, of which 0 is no time. Both databases keep
// times as 64-bit numbers, so that the same number is read back from either.
func ToMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// TimeOf is the time that ToMicros made.
func TimeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// ToJSON is a value as JSON in a text. It fails only for values that JSON can't hold, such as a number that is not
// finite.
func ToJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", &chat.Error{Code: chat.CodeInvalid, Message: "A value can't be stored as JSON.", Err: err}
	}
	return string(b), nil
}

// wrap names what failed.
func wrap(err error, op string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}
