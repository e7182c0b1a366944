package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"strconv"
)

// A heldStmt is a prepared statement that its owner, the database or a connection, keeps and closes. Who runs it does
// not. order maps the question marks of the prepared text to the arguments of the caller, since $2 may come before $1
// or twice.
type heldStmt struct {
	*sql.Stmt
	order []int // of the arguments, from 0; nil: as they are
}

// parameter is one with a number.
var parameter = regexp.MustCompile(`\$[0-9]+`)

// prepareHeld prepares a statement. Parameters like $1, whose names the driver would read each time, become question
// marks. A number that comes twice becomes two question marks, and bind gives its argument twice.
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

// bind returns the arguments as the statement takes them.
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

// prepareStatement returns the readers' prepared statement for a query. It is for queries of fixed text: each stays
// prepared until Close, unless SQLite looks at an argument to plan it: that is why limits are written LIMIT +?. Queries
// whose text depends on their arguments go to db.readers. The map is looked at under a read lock first and again under
// the write lock, so that two callers prepare one statement.
func (db *DB) prepareStatement(ctx context.Context, query string) (heldStmt, error) {
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

// queryRows reads rows with a query of fixed text. Errors of rows.Scan and rows.Err go through failure. The caller
// closes the rows; until then they hold one of the readers' connections.
func (db *DB) queryRows(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := db.prepareStatement(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, stmt.bind(args)...)
	return rows, failure(err)
}

// queryRow reads one row with a query of fixed text into dest. It fails with sql.ErrNoRows if there is none.
func (db *DB) queryRow(ctx context.Context, query string, args []any, dest ...any) error {
	stmt, err := db.prepareStatement(ctx, query)
	if err != nil {
		return err
	}
	return failure(stmt.QueryRowContext(ctx, stmt.bind(args)...).Scan(dest...))
}
