package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// dialect is this database's SQL for package store. FOR UPDATE OF locks only the named table of a join. Lists are
// passed as arrays.
var dialect = &store.Dialect{
	Locked:   func(of string) string { return ` FOR UPDATE OF ` + of },
	Free:     func(of string) string { return ` FOR UPDATE OF ` + of + ` SKIP LOCKED` },
	Bytewise: ` COLLATE "C"`,
	Contains: func(text, part string) string { return `strpos(` + text + `, ` + part + `) > 0` },
	Field:    func(column, name string) string { return column + `::json ->> '` + name + `'` },
	Age:      "n",
	Bytes:    func(b []byte) any { return b },
	InScope:  ` d.user_id = $1 AND (cardinality($2::text[]) = 0 OR d.namespace = ANY ($2)) `,
	Names: func(names []string) any {
		if names == nil {
			return []string{}
		}
		return names
	},
	Numbers: func(list []int64) any {
		if list == nil {
			return []int64{}
		}
		return list
	},
	Among:  func(value, list string) string { return value + ` = ANY (` + list + `)` },
	Scope:  legibleScope,
	Object: func(meta map[string]any) (string, error) { return toJSONB(meta) },
	Filter: filterDocuments,
	SelectMetaTexts: `SELECT DISTINCT v #>> '{}' FROM documents d, LATERAL jsonb_array_elements(
		CASE jsonb_typeof(d.meta -> $3::text) WHEN 'array' THEN d.meta -> $3::text
		ELSE jsonb_build_array(d.meta -> $3::text) END) v WHERE jsonb_typeof(v) = 'string' AND`,
	MarkChanged: `UPDATE documents SET changed = $2 WHERE n = $1`,
	TextColumns: textColumns,
	OfText:      ofText,
	ScanText:    scanText,
	Wanted: `unnest($3::text[]) WITH ORDINALITY AS wanted (value, key) JOIN passages p ON p.id = wanted.value
		JOIN contents c ON c.n = p.content`,
	Live: ` live `,
	// A document's current span has the document's number.
	SelectSpans: `SELECT d.n, d.id, d.user_id, d.namespace, d.deleted_at = 0, coalesce(c.first_row, 0),
		coalesce(c.lengths, '') FROM documents d LEFT JOIN contents c ON c.n = d.content WHERE d.changed > $1`,
	SelectUnindexed: `SELECT c.n, d.user_id, d.changed, c.first_row, c.passages FROM unindexed u
		JOIN contents c ON c.n = u.content JOIN documents d ON d.n = c.document ORDER BY d.user_id, c.n`,
	DropEvents: `DELETE FROM events WHERE run = ANY ($1)`,
	SelectSession: `
		SELECT s.n, s.name, s.user_id, s.title, s.head, s.turns, s.created_at, s.updated_at,
			EXISTS (SELECT FROM runs r WHERE r.session = s.n AND r.status = 'running')
		FROM sessions s `,
	SetHead: `UPDATE sessions SET head = r.id, turns = r.depth FROM runs r
		WHERE r.id = $1 AND r.session = sessions.n AND sessions.name = $2 AND user_id = $3 AND deleted_at = 0`,
	// A damaged run without texts is read as well.
	SelectRun: `SELECT` + runColumns +
		`FROM runs r JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n `,
}

// runColumns are the columns of runs (r), sessions (s) and run_texts (t) for store.ScanRun.
const runColumns = ` r.id, s.name, s.user_id, r.parent, t.request, r.status, t.answer, r.created_at, r.ended_at,
	r.tokens_in, r.tokens_out `

// inScope restricts documents (d) to undeleted ones in a scope.
var inScope = dialect.Shown()

// engine implements store.Database for package store.
type engine struct{ db *DB }

// timeoutOf returns a statement's timeout. Durable and Bulk have no effect: commits are synchronous by default, and
// there is no single writer.
func timeoutOf(care store.Options) time.Duration {
	if care&store.Patient != 0 {
		return longTime
	}
	return shortTime
}

// Autocommit implements store.Database.
func (e engine) Autocommit(ctx context.Context, care store.Options) store.Statements {
	return statements{ctx, e.db, timeoutOf(care)}
}

// Write implements store.Database.
func (e engine) Write(ctx context.Context, care store.Options, fn func(store.Tx) error) error {
	return e.db.inTx(ctx, timeoutOf(care), func(t *tx) error { return fn(t) })
}

// LimitsOf implements store.Database.
func (e engine) LimitsOf(user string) chat.Limits { return e.db.limits.For(user) }

// Spend implements store.Database.
func (engine) Spend(t store.Tx, limits chat.Limits, user string, what chat.Resource, n int64) error {
	return spending{limits, limits.SpendLimits(what), user, what, n}.countIn(t)
}

// Violates implements store.Database.
func (engine) Violates(err error, index string) bool { return violatesConstraint(err, index) }

// statements runs each statement in a separate transaction. It holds a context, as it is made for one call.
type statements struct {
	ctx      context.Context
	db       *DB
	patience time.Duration
}

// Exec implements store.Statements.
func (s statements) Exec(statement string, args ...any) (int64, error) {
	return s.db.execStatement(s.ctx, s.patience, statement, args...)
}

// ExecNotify implements store.Statements.
func (s statements) ExecNotify(about, statement string, args ...any) (int64, error) {
	statement, args = s.db.withNotification(about, statement, args)
	return s.Exec(statement, args...)
}

// One implements store.Statements.
func (s statements) One(statement string, args []any, dest ...any) error {
	return s.db.queryRow(s.ctx, s.patience, statement, args, dest...)
}

// Query implements store.Statements. read may be called again in a retry, if a connection broke before the statement
// had an effect.
func (s statements) Query(statement string, args []any, read func(store.Rows) error) error {
	args = storableArgs(args)
	return s.db.withConn(s.ctx, s.patience, func(ctx context.Context, c *pgxpool.Conn) error {
		return scanRows(ctx, c, statement, args, read)
	})
}

// scanRows runs a query, passes its rows to read and closes them.
func scanRows(ctx context.Context, q querier, statement string, args []any, read func(store.Rows) error) error {
	rows, err := q.Query(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return err
	}
	return rows.Err()
}

// withNotification wraps a statement to also notify the other replicas once for each changed row. Equal notifications
// of a transaction are sent once. The row count is that of the statement.
func (db *DB) withNotification(about, statement string, args []any) (string, []any) {
	n := len(args)
	return fmt.Sprintf(`WITH changed AS (%s RETURNING 1) SELECT pg_notify($%d, $%d) FROM changed`, statement, n+1, n+2),
		append(args[:n:n], db.channel, db.writeNotice(about))
}

// Exec implements store.Statements.
func (t *tx) Exec(statement string, args ...any) (int64, error) {
	tag, err := t.pgx.Exec(t.ctx, statement, storableArgs(args)...)
	return tag.RowsAffected(), err
}

// ExecNotify implements store.Statements.
func (t *tx) ExecNotify(about, statement string, args ...any) (int64, error) {
	statement, args = t.db.withNotification(about, statement, args)
	return t.Exec(statement, args...)
}

// One implements store.Statements.
func (t *tx) One(statement string, args []any, dest ...any) error {
	return t.pgx.QueryRow(t.ctx, statement, storableArgs(args)...).Scan(dest...)
}

// Query implements store.Statements.
func (t *tx) Query(statement string, args []any, read func(store.Rows) error) error {
	return scanRows(t.ctx, t.pgx, statement, storableArgs(args), read)
}

// Lock implements store.Tx with a transaction-level advisory lock. The name is hashed to 64 bits; a collision only
// costs a wait.
func (t *tx) Lock(kind, name string) error {
	_, err := t.Exec(
		`SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' ' || $1 || ' ' || $2, 0))`, kind, name,
	)
	return err
}
