package sqlite

import (
	"context"
	"database/sql"
	"expvar"
	"fmt"
	"regexp"
	"strconv"
)

// A heldStmt is a cached prepared statement, which the database or a connection owns and closes. order maps the
// question marks of the prepared text to the caller's arguments, since $2 may precede $1 or occur twice.
type heldStmt struct {
	*sql.Stmt
	order []int // of the arguments, from 0; nil: unchanged
}

// executed counts executed statements, for builds that serve the variables of expvar.
var executed = expvar.NewInt("footnote_sqlite_statements")

// parameter matches a numbered parameter.
var parameter = regexp.MustCompile(`\$[0-9]+`)

// prepareHeld prepares a statement. Numbered parameters like $1, whose names the driver would parse each time,
// become question marks. A repeated number becomes several question marks, and bind repeats its argument.
func prepareHeld(
	ctx context.Context, query string, prepare func(ctx context.Context, query string) (*sql.Stmt, error),
) (stmt heldStmt, err error) {
	inOrder := true
	query = parameter.ReplaceAllStringFunc(query, func(name string) string {
		n, _ := strconv.Atoi(name[1:]) // digits
		inOrder = inOrder && n == len(stmt.order)+1
		stmt.order = append(stmt.order, n-1)
		return "?"
	})
	if inOrder {
		stmt.order = nil
	}
	if stmt.Stmt, err = prepare(ctx, query); err != nil {
		return stmt, fmt.Errorf("prepare: %w", failure(err))
	}
	return stmt, nil
}

// bind returns the arguments in the statement's order.
func (s heldStmt) bind(args []any) []any {
	if s.order == nil {
		return args
	}
	bound := make([]any, len(s.order))
	for i, n := range s.order {
		bound[i] = args[n]
	}
	return bound
}

// prepareStatement returns the readers' cached prepared statement for a query with fixed text. It stays prepared
// until Close, unless SQLite plans it by an argument's value: therefore limits are written LIMIT +?. Queries whose
// text depends on their arguments use db.readers directly. The cache is checked under the read lock first and again
// under the write lock, so that a statement is prepared once.
func (db *DB) prepareStatement(ctx context.Context, query string) (heldStmt, error) {
	executed.Add(1)
	db.mu.RLock()
	stmt, ok := db.stmts[query]
	db.mu.RUnlock()
	if ok {
		return stmt, nil
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if stmt, ok := db.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := prepareHeld(ctx, query, db.readers.PrepareContext)
	if err != nil {
		return stmt, err
	}
	db.stmts[query] = stmt
	return stmt, nil
}

// queryRows runs a query with fixed text. Errors of rows.Scan and rows.Err need failure. The caller closes the rows;
// until then they hold one of the readers' connections.
func (db *DB) queryRows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := db.prepareStatement(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, stmt.bind(args)...)
	return rows, failure(err)
}

// queryRow reads one row of a query with fixed text into dest. It returns sql.ErrNoRows without one.
func (db *DB) queryRow(ctx context.Context, query string, args []any, dest ...any) error {
	stmt, err := db.prepareStatement(ctx, query)
	if err != nil {
		return err
	}
	return failure(stmt.QueryRowContext(ctx, stmt.bind(args)...).Scan(dest...))
}
