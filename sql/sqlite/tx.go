package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/footnote/footnote/sql/store"
)

// The transaction control statements. IMMEDIATE takes the write lock at once; a transaction that begins as a reader
// could fail later at a write.
const (
	begin      = `BEGIN IMMEDIATE`
	commit     = `COMMIT`
	rollback   = `ROLLBACK`
	savepoint  = `SAVEPOINT one`
	rollbackTo = `ROLLBACK TO one`
	release    = `RELEASE one`
)

// A tx is the writer's open transaction in one write function, and only valid there. Statements stay prepared for
// the life of the database, so their text must be fixed. Rows must be closed before the same query runs again. Only
// the writer's goroutine uses it, without a lock.
type tx struct {
	ctx   context.Context // never cancelled
	conn  *sql.Conn
	stmts map[string]heldStmt

	written int // number of statements that Exec began
}

// stmt returns the cached prepared statement for a text. The cache is limited by the program's number of statements.
func (t *tx) stmt(query string) (heldStmt, error) {
	executed.Add(1)
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := prepareHeld(t.ctx, query, t.conn.PrepareContext)
	if err != nil {
		return stmt, err
	}
	t.stmts[query] = stmt
	return stmt, nil
}

// Exec runs a statement and returns the number of changed rows.
func (t *tx) Exec(query string, args ...any) (int64, error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	t.written++
	result, err := stmt.ExecContext(t.ctx, stmt.bind(args)...)
	if err != nil {
		return 0, failure(err)
	}
	return result.RowsAffected()
}

// query runs a query, which sees the transaction's own writes. The caller closes the rows.
func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(t.ctx, stmt.bind(args)...)
	return rows, failure(err)
}

// One reads one row into dest. It returns sql.ErrNoRows without one.
func (t *tx) One(query string, args []any, dest ...any) error {
	stmt, err := t.stmt(query)
	if err != nil {
		return err
	}
	return failure(stmt.QueryRowContext(t.ctx, stmt.bind(args)...).Scan(dest...))
}

// Query implements store.Statements.
func (t *tx) Query(query string, args []any, read func(store.Rows) error) error {
	rows, err := t.query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return failure(err)
	}
	return failure(rows.Err())
}

// ExecNotify implements store.Statements. With a single process there is no notification.
func (t *tx) ExecNotify(_, query string, args ...any) (int64, error) { return t.Exec(query, args...) }

// Lock implements store.Tx. The single writer serialises transactions anyway.
func (t *tx) Lock(string, string) error { return nil }

// control runs a transaction control statement, which is cached as prepared.
func (t *tx) control(statement string) error {
	stmt, err := t.stmt(statement)
	if err != nil {
		return err
	}
	if _, err := stmt.ExecContext(t.ctx); err != nil {
		return fmt.Errorf("%s: %w", statement, failure(err))
	}
	return nil
}

// close closes the statements and the connection, after the writer's goroutine has ended.
func (t *tx) close() error {
	var errs []error
	for _, stmt := range t.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, t.conn.Close())...)
}
