package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"modernc.org/sqlite"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// init registers the SQL function now_micros(), with which statements set timestamps.
func init() {
	sqlite.MustRegisterScalarFunction("now_micros", 0, func(
		*sqlite.FunctionContext, []driver.Value,
	) (driver.Value, error) {
		return time.Now().UnixMicro(), nil
	})
}

// noLock returns no lock clause: there is one writer, which serialises transactions.
func noLock(string) string { return "" }

// dialect is this database's SQL for package store. Lists are passed as JSON and expanded by json_each, since SQLite
// has no arrays. CROSS JOIN keeps the order of the tables (sqlite.org/optoverview.html), so the few requested rows
// are looked up by index.
var dialect = &store.Dialect{
	Locked:   noLock,
	Free:     noLock,
	Contains: func(text, part string) string { return `instr(` + text + `, ` + part + `) > 0` },
	Field:    func(column, name string) string { return column + ` ->> '` + name + `'` },
	Age:      "rowid",
	Bytes: func(b []byte) any {
		if b == nil {
			return nil
		}
		return string(b)
	},
	InScope: ` d.user_id = $1 AND ($2 = '[]' OR d.namespace IN (SELECT value FROM json_each($2))) `,
	Names:   func(list []string) any { return names(list) },
	Numbers: func(list []int64) any { return names(list) },
	Among: func(value, list string) string {
		return value + ` IN (SELECT value FROM json_each(` + list + `))`
	},
	Scope:  func(s chat.Scope) chat.Scope { return s },
	Object: func(meta map[string]any) (string, error) { return store.ToJSON(meta) },
	Filter: filterDocuments,
	SelectMetaTexts: `SELECT DISTINCT coalesce(e.value, m.value) FROM documents d, json_each(d.meta) m
		LEFT JOIN json_each(CASE m.type WHEN 'array' THEN m.value ELSE '[]' END) e
		WHERE m.key = $3 AND coalesce(e.type, m.type) = 'text' AND`,
	MarkChanged: `UPDATE contents SET changed = $2 WHERE document = $1 AND live = 1`,
	TextColumns: passageText,
	ScanText: func(row store.Row, others ...any) (text string, err error) {
		err = row.Scan(append(others, &text)...)
		return text, err
	},
	Wanted: `json_each($3) wanted CROSS JOIN passages p ON p.id = wanted.value
		JOIN contents c ON c.n = p.content AND c.live = 1`,
	Staying: ` AND d.purging = 0`,
	Serving: ` AND c.live = 1`,
	Live:    ` live = 1 `,
	SelectSpans: `SELECT c.n, d.id, d.user_id, d.namespace, c.live AND d.deleted_at = 0, c.first_row, c.lengths
		FROM contents c JOIN documents d ON d.n = c.document WHERE c.changed > $1`,
	SelectUnindexed: `SELECT c.n, d.user_id, c.changed, c.first_row, c.passages FROM unindexed u
		JOIN contents c ON c.n = u.content JOIN documents d ON d.n = c.document ORDER BY d.user_id, c.n`,
	// An event's ID is its run's number and its own; see events.go.
	DropEvents: `DELETE FROM events WHERE id IN (SELECT e.id FROM json_each($1) r CROSS JOIN events e
		ON e.id BETWEEN r.value << 20 AND r.value << 20 | 1048575)`,
	SelectSession: `
		SELECT s.n, s.name, s.user_id, s.title, coalesce(h.id, ''), coalesce(h.depth, 0), s.created_at, s.updated_at,
			EXISTS (SELECT 1 FROM runs r WHERE r.session = s.n AND r.status = 'running')
		FROM sessions s LEFT JOIN runs h ON h.n = s.head `,
	SetHead: `UPDATE sessions SET head = r.n FROM (SELECT n, session FROM runs WHERE id = $1) r
		WHERE sessions.n = r.session AND sessions.name = $2 AND user_id = $3 AND deleted_at = 0`,
	// A damaged run without texts is read as well. A first question has no parent: a lookup of number 0 would read
	// the oldest page, which may be damaged.
	SelectRun: `
		SELECT r.id, s.name, s.user_id, coalesce(p.id, ''), t.request, r.status, coalesce(t.answer, ''), r.created_at,
			r.ended_at, r.tokens_in, r.tokens_out
		FROM runs r JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n LEFT JOIN runs p
		ON p.n = nullif(r.parent, 0) `,
}

// names encodes a list as JSON. An empty list is "[]", never NULL, so that statements can compare with it.
func names[T string | int64 | uint32](list []T) string {
	if len(list) == 0 {
		return "[]"
	}
	text, err := store.ToJSON(list)
	if err != nil { // texts and numbers always encode
		panic(err)
	}
	return text
}

// engine implements store.Database for package store: single statements (Alone) and transactions (Write).
type engine struct{ db *DB }

// Autocommit implements store.Database: writes use the writer, and reads the readers.
func (e engine) Autocommit(ctx context.Context, care store.Options) store.Statements {
	return statements{ctx, e.db, care}
}

// Write implements store.Database. A bulk write has a transaction of its own; small ones share one.
func (e engine) Write(ctx context.Context, care store.Options, fn func(store.Tx) error) error {
	write := e.db.writeTx
	if care&store.Bulk != 0 {
		write = e.db.writeBulk
	}
	return write(ctx, care&store.Durable != 0, func(t *tx) error { return fn(t) })
}

// LimitsOf implements store.Database.
func (e engine) LimitsOf(user string) chat.Limits { return e.db.limits.For(user) }

// Violates implements store.Database: writes check first, and there are no concurrent writers.
func (engine) Violates(error, string) bool { return false }

// statements runs each statement in a separate transaction. It holds a context, as it is made for one call.
type statements struct {
	ctx  context.Context
	db   *DB
	care store.Options
}

// Exec implements store.Statements.
func (s statements) Exec(statement string, args ...any) (changed int64, err error) {
	err = s.db.writeTx(s.ctx, s.care&store.Durable != 0, func(t *tx) error {
		changed, err = t.Exec(statement, args...)
		return err
	})
	return changed, err
}

// ExecNotify implements store.Statements. With a single process there is no notification.
func (s statements) ExecNotify(_, statement string, args ...any) (changed int64, err error) {
	return s.Exec(statement, args...)
}

// One implements store.Statements.
func (s statements) One(statement string, args []any, dest ...any) error {
	return s.db.queryRow(s.ctx, statement, args, dest...)
}

// Query implements store.Statements. A statement whose text depends on the request (store.Once) is not cached as
// prepared.
func (s statements) Query(statement string, args []any, read func(store.Rows) error) error {
	query := s.db.queryRows
	if s.care&store.Once != 0 {
		query = s.db.readers.QueryContext
	}
	rows, err := query(s.ctx, statement, args...)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	if err := read(rows); err != nil {
		return failure(err)
	}
	return failure(rows.Err())
}
