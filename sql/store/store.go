// Package store implements what the stores of both databases share: one text of each statement, in the common SQL of
// SQLite and PostgreSQL, and its rules. A Database runs the statements and has the differences in its Dialect.
// Statements of only one database are in its package.
//
// Inputs and results are domain types; errors are a chat.Error or wrapped, without driver rows.
//
// Three rules apply. A statement's text is fixed, since it is cached as prepared; request values are arguments. Rows
// that a rule reads before it writes are locked in the same transaction, by row (Dialect.Locked) or by name
// (Tx.Lock), or two PostgreSQL processes could both pass a limit. A function passed to Write may be retried, so it
// first resets the variables that it captured.
//
// To add a column, write a migration in sql/sqlite/migrations and in sql/postgres/migrations, name it in the
// statements here. sql/postgres/copy.go copies it if both databases have it; its test fails otherwise.
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

// Options is a set of options for a statement or a transaction, as bits.
type Options uint8

const (
	// Durable makes a write survive power loss once the call has returned. It matters for SQLite: other writes there
	// survive a crash of the process, and power loss after the next durable write.
	Durable Options = 1 << iota
	// Patient is for statements that a run or a document depends on: their timeout for an unavailable database is
	// longer than for interactive requests.
	Patient
	// Bulk is for long work, which does not block SQLite's small writes.
	Bulk
	// Once is for statements whose text depends on the request, so that they are not cached as prepared.
	Once
)

// Row is a row that can be scanned.
type Row interface{ Scan(dest ...any) error }

// Rows are the rows of a query. They are only valid in the callback; the runner closes them.
type Rows interface {
	Row
	Next() bool
}

// Statements runs statements, in a transaction or each in a separate one. Parameters are written $1, $2 and so on,
// in any order and possibly repeated. The text of statements must be fixed, as they are cached as prepared.
type Statements interface {
	// Exec runs a statement and returns the number of changed rows.
	Exec(statement string, args ...any) (changed int64, err error)

	// ExecNotify is Exec, for a statement without RETURNING, that also notifies other processes with `about`, if it
	// changed rows and is committed.
	ExecNotify(about, statement string, args ...any) (changed int64, err error)

	// One reads one row into dest. It returns sql.ErrNoRows without one. Outside a transaction the statement must
	// not write.
	One(statement string, args []any, dest ...any) error

	// Query passes the rows of a statement to read, again from the start after a retry. read must not run other
	// statements. Outside a transaction the statement must not write.
	Query(statement string, args []any, read func(Rows) error) error
}

// Tx is an open transaction. It is only valid in the function that it was passed to.
type Tx interface {
	Statements

	// Lock locks a name until the transaction ends. Other transactions wait for the same name.
	Lock(kind, name string) error
}

// Database runs statements and transactions. Both implementations are named engine, in dialect.go of their packages.
type Database interface {
	// Autocommit returns Statements that run in separate transactions.
	Autocommit(ctx context.Context, care Options) Statements

	// Write runs fn in a transaction and retries it after a conflict, so fn must be repeatable. An error of fn rolls
	// back and is returned unchanged.
	Write(ctx context.Context, care Options, fn func(Tx) error) error

	// LimitsOf returns the limits of a user.
	LimitsOf(user string) chat.Limits

	// Spend counts n if no limit of a user is exceeded. Other spendings of the user wait until the transaction ends.
	Spend(t Tx, limits chat.Limits, user string, what chat.Resource, n int64) error

	// Violates reports whether err is a violation of a unique index.
	Violates(err error, index string) bool
}

// Dialect has the SQL that differs between the databases. Where a common spelling exists, statements use it: CAST
// instead of ::, coalesce, and now_micros() for the database's clock.
type Dialect struct {
	// Locked is the suffix of a SELECT that locks its rows until the transaction ends, in the table `of`. With a
	// single writer it is empty.
	Locked func(of string) string

	// Free is like Locked, but skips rows that are locked already.
	Free func(of string) string

	// Bytewise is the collation for sorting by bytes.
	Bytewise string

	// Contains returns the condition that a text contains another.
	Contains func(text, part string) string

	// Field returns a field of a column with JSON text.
	Field func(column, name string) string

	// Age is an ascending column of tables without a number.
	Age string

	// Bytes converts an argument for a text column with arbitrary bytes; nil is NULL.
	Bytes func([]byte) any

	// InScope is the condition that a table (d) with user and namespace is in a scope: $1 is the user, and $2 the
	// namespaces, encoded by Names.
	InScope string

	// Names encodes a list of names as an argument.
	Names func([]string) any

	// Numbers encodes a list of numbers as an argument.
	Numbers func([]int64) any

	// Among returns the condition that a value is in the list of a parameter.
	Among func(value, list string) string

	// Scope returns a scope with names as the database stores them.
	Scope func(chat.Scope) chat.Scope

	// Object encodes meta as an argument.
	Object func(map[string]any) (string, error)

	// Filter adds a filter's conditions for IDs and meta.
	Filter func(where *Conditions, f corpus.Filter) error

	// SelectMetaTexts selects the texts in the meta of documents (d) under the key $3, up to a condition on
	// documents.
	SelectMetaTexts string

	// MarkChanged sets the change number of document $1 to $2.
	MarkChanged string

	// TextColumns are the columns of passages (p) from which ScanText decodes a text, after others. OfText joins
	// their tables.
	TextColumns, OfText string
	ScanText            func(row Row, others ...any) (string, error)

	// Wanted are the passages (p) with the IDs in $3, and their contents (c); wanted.key is their order.
	Wanted string

	// Staying excludes documents (d) that are being purged, and Serving contents (c) that no document refers to.
	Staying, Serving string

	// Live is the condition for segments of the lexical index that are visible to searches.
	Live string

	// SelectSpans selects, for content changed after $1, its number, the document's ID, user and namespace,
	// visibility, first row and lengths.
	SelectSpans string

	// SelectUnindexed selects number, owner, change, first row and passages of contents without postings.
	SelectUnindexed string

	// DropEvents deletes the events of the runs in $1.
	DropEvents string

	// SelectSession selects the columns of sessions (s) for scanSession.
	SelectSession string

	// SetHead sets the head of session $2 of user $3 to run $1.
	SetHead string

	// SelectRun selects the columns of runs (r) and sessions (s) for ScanRun.
	SelectRun string
}

// readList returns the decoded rows of a query. A retry starts with an empty list, so rows are never duplicated.
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

// readOne returns the first decoded row of a query for at most one row. It returns sql.ErrNoRows without one.
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

// numbered is a list entry with its number, which breaks ties of equal times in the order and in the cursor.
type numbered[T any] struct {
	n     int64
	entry T
}

// pageOf returns a page of up to limit entries and the cursor of the next page. found has one entry more if there is
// a next page, which avoids counting.
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

// NotFound converts sql.ErrNoRows into the error for a missing object, and wraps other errors with op. Another
// user's object has the same error, as statements select by user.
func NotFound(err error, op, thing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return chat.NoSuch(thing)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// ChangedOne is NotFound for a statement that must change a row. The statement checks the owner, so no query before
// it is needed.
func ChangedOne(n int64, err error, op, thing string) error {
	if err == nil && n == 0 {
		err = sql.ErrNoRows
	}
	return NotFound(err, op, thing)
}

// ToMicros encodes a time for the databases: a 64-bit number of microseconds since 1970, where 0 is the zero time.
func ToMicros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// TimeOf decodes a time of ToMicros.
func TimeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// ToJSON encodes a value as JSON text. It fails only for invalid values, such as a number that is not finite.
func ToJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", &chat.Error{Code: chat.CodeInvalid, Message: "A value can't be stored as JSON.", Err: err}
	}
	return string(b), nil
}

// wrap adds the failed operation to an error.
func wrap(err error, op string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op, err)
}
