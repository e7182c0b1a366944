package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/footnote/footnote/sql/store"
)

// The statements that steer a transaction. IMMEDIATE takes the write lock at once; a transaction that began as a reader
// could fail later when it wants to write.
const (
	begin      = `BEGIN IMMEDIATE`
	commit     = `COMMIT`
	rollback   = `ROLLBACK`
	savepoint  = `SAVEPOINT one`
	rollbackTo = `ROLLBACK TO one`
	release    = `RELEASE one`
)

// A tx is the writer's open transaction as one write function sees it. Statements stay prepared for the life of the
// database, so their text must be fixed. It must not be kept beyond the function. Rows must be closed before the same
// query runs again. It is used by the writer's goroutine alone and needs no lock.
type tx struct {
	ctx   context.Context // never ends
	conn  *sql.Conn
	stmts map[string]heldStmt
}

// stmt returns the prepared statement for a text. The map only grows, by as many statements as the program's text has.
func (t *tx) stmt(query string) (heldStmt, error) {
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

// Exec runs a statement and returns the number of rows it changed.
func (t *tx) Exec(query string, args ...any) (int64, error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(t.ctx, stmt.bind(args)...)
	if err != nil {
		return 0, failure(err)
	}
	return result.RowsAffected()
}

// query reads rows. They see what the transaction has written so far. The caller closes them.
func (t *tx) query(query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.stmt(query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(t.ctx, stmt.bind(args)...)
	return rows, failure(err)
}

// One reads one row into dest. It fails with sql.ErrNoRows if there is none.
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

// Tell implements store.Statements. There is one process only, so nobody has to be told.
func (t *tx) Tell(_, query string, args ...any) (int64, error) { return t.Exec(query, args...) }

// Lock implements store.Tx. There is one writer, so all take turns anyway.
func (t *tx) Lock(string, string) error { return nil }

// control runs one of the statements above. They stay prepared like all others.
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

// close closes the statements and the connection. It comes after the writer's goroutine has ended.
func (t *tx) close() error {
	var errs []error
	for _, stmt := range t.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, t.conn.Close())...)
}
