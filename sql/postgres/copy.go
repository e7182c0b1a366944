package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// copied are the tables that Load and Dump copy, in the order of their references. Jobs are not among them: a server
// queues unfinished documents when it starts. Vectors are not either: it computes them again.
var copied = strings.Fields(`sessions runs run_texts events step_outputs idempotency_keys feedback shares queued
	commands documents contents texts content_words passages segments segment_pages unindexed spent removals standing
	grids grid_cells webhooks notices places place_items oauth watched standing_feeds corpus_versions corpus_state`)

// served selects the rows of a file that belong to a document's current content: others are not copied.
const served = ` IN (SELECT content FROM documents WHERE purging = 0)`

// fromFile has the SQL of SQLite for columns that a file stores differently than this database, and for tables of
// which it has more rows.
var fromFile = map[string]string{
	"sessions.head":     `coalesce((SELECT r.id FROM runs r WHERE r.n = head), '')`,
	"sessions.turns":    `coalesce((SELECT r.depth FROM runs r WHERE r.n = head), 0)`,
	"sessions.previous": `''`,
	"runs.parent":       `coalesce((SELECT p.id FROM runs p WHERE p.n = runs.parent), '')`,
	"runs.last": `coalesce((SELECT max(e.id) & 1048575 FROM events e WHERE e.id > runs.n << 20
		AND e.id < (runs.n + 1) << 20), 0)`,
	"events.run":         `id >> 20`,
	"events.seq":         `id & 1048575`,
	"documents.semantic": `'off'`,
	"documents.content":  `CASE purging WHEN 0 THEN content ELSE 0 END`,
	"documents.changed":  `coalesce((SELECT c.changed FROM contents c WHERE c.n = content), 0)`,
	"contents":           `contents WHERE n` + served,
	"contents.body":      `''`, // all texts are in table texts
	"contents.blocks": `coalesce((SELECT '[' || group_concat(substr(x.body, 2, length(x.body) - 2), ','
		ORDER BY x.piece) || ']' FROM (SELECT content, piece, unpacked(body, packed) AS body FROM content_blocks) x
		WHERE x.content = contents.n), 'null')`,
	"contents.packed":        `x''`,
	"contents.packed_blocks": `x''`,
	"texts":                  `texts WHERE at >> 32` + served,
	"texts.content":          `at >> 32`,
	"texts.start_off":        `at & 0xffffffff`,
	"texts.packed":           `packed(body, packed)`,
	"content_words":          `content_words WHERE content` + served,
	"passages":               `passages WHERE content` + served,
	"passages.body":          `text`,
	"passages.packed":        `coalesce(packed, x'')`,
	"oauth.n":                `rowid`,
}

// toFile has the SQL of this database for columns and tables that a file stores differently.
var toFile = map[string]string{
	"sessions.head":        `coalesce((SELECT r.n FROM runs r WHERE r.id = head), 0)`,
	"runs.parent":          `coalesce((SELECT p.n FROM runs p WHERE p.id = runs.parent), 0)`,
	"events.id":            `run << 20 | seq`,
	"documents.given_meta": `given_meta::text`,
	"documents.meta":       `meta::text`,
	"documents.semantic":   `'off'`,
	"documents.purging":    `0`,
	"contents.live":        `1`,
	"contents.changed":     `coalesce((SELECT max(d.changed) FROM documents d WHERE d.n = document), 0)`,
	"contents.started_at":  `0`,
	"texts": `(SELECT content << 32 | start_off AS at, '' AS body, packed FROM texts UNION ALL
		SELECT n << 32, body, nullif(packed, '') FROM contents WHERE body <> '' OR packed <> '') t`,
	"content_blocks": `(SELECT n AS content, 0 AS piece, blocks AS body, nullif(packed_blocks, '') AS packed
		FROM contents) b`,
	"passages.text":                `body`,
	"passages.packed":              `nullif(packed, '')`,
	"segment_pages.n":              `NULL`,
	"oauth":                        `oauth ORDER BY n`, // the order of its rows is their age
	"corpus_state.vector_changes":  `0`,
	"corpus_state.vector_removals": `0`,
}

// column is a column of the table that rows are copied to.
type column struct{ Name, Kind string }

// selectRows returns the statement that reads a table's rows in the shape of their target.
func selectRows(table string, columns []column, different map[string]string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = cmp.Or(different[table+"."+c.Name], c.Name)
	}
	return `SELECT ` + strings.Join(list, ", ") + ` FROM ` + cmp.Or(different[table], table)
}

// CheckEmpty returns chat.CodeConflict if the database has data.
func (db *DB) CheckEmpty(ctx context.Context) error {
	return db.inTx(ctx, longTime, func(t *tx) error { return checkEmpty(ctx, t.pgx) })
}

func checkEmpty(ctx context.Context, t pgx.Tx) error {
	for _, table := range copied[:len(copied)-1] { // corpus_state always has a row
		var some bool
		if err := t.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+table+`)`).Scan(&some); err != nil {
			return err
		}
		if some {
			return &chat.Error{
				Code: chat.CodeConflict,
				Message: locale.Say(
					"The database holds data (in its table {1}); use an empty one, nothing was changed", table,
				),
			}
		}
	}
	return nil
}

// Load copies all rows of a file (sqlite.OpenRows) into the empty database, in one transaction: after an error or a
// crash the database is empty. It holds one row in memory. Texts with NUL or invalid UTF-8 are normalised.
func (db *DB) Load(ctx context.Context, from *sql.DB) error {
	err := pgx.BeginFunc(ctx, db.pool, func(t pgx.Tx) error {
		// Another Load waits, and is refused then.
		if _, err := t.Exec(
			ctx, `SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || ' loading', 0))`,
		); err != nil {
			return err
		}
		if err := checkEmpty(ctx, t); err != nil {
			return err
		}
		for _, table := range copied {
			if err := loadTable(ctx, t, from, table); err != nil {
				return fmt.Errorf("load %s: %w", table, err)
			}
		}
		_, err := t.Exec(ctx, `ANALYZE`) // for the planner, whose statistics are of an empty database
		return err
	})
	return db.translateError(ctx, err)
}

// loadTable copies the rows of one table, and sets its sequence to the highest number.
func loadTable(ctx context.Context, t pgx.Tx, from *sql.DB, table string) error {
	found, err := t.Query(ctx, `SELECT column_name, data_type FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER'`, table)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(found, pgx.RowToStructByPos[column])
	if err != nil {
		return err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	if _, err := t.Exec(ctx, `DELETE FROM `+table); err != nil { // a row of a migration
		return err
	}
	rows, err := from.QueryContext(ctx, selectRows(table, columns, fromFile)) //nolint:sqlclosecheck // closed below
	if err != nil {
		return err
	}
	defer rows.Close()
	row, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		dest[i] = &row[i]
	}
	if _, err := t.CopyFrom(ctx, pgx.Identifier{table}, names, pgx.CopyFromFunc(func() ([]any, error) {
		if !rows.Next() {
			return nil, rows.Err()
		}
		err := rows.Scan(dest...)
		for i := 0; err == nil && i < len(row); i++ {
			row[i], err = fitValue(columns[i].Kind, row[i])
		}
		return row, err
	})); err != nil {
		return err
	}
	if slices.Contains(names, "n") {
		_, err = t.Exec(ctx, `SELECT setval(pg_get_serial_sequence('`+table+`', 'n'), greatest(max(n), 1),
			max(n) IS NOT NULL) FROM `+table)
	}
	return err
}

// fitValue converts a value of a file to a type of this database.
func fitValue(kind string, value any) (any, error) {
	switch v := value.(type) {
	case int64:
		if kind == "boolean" {
			return v != 0, nil
		}
	case []byte:
		return append([]byte{}, v...), nil // nil would be NULL
	case string:
		if kind == "bytea" {
			return []byte(v), nil
		}
		v = legibleText(v)
		if kind == "jsonb" && strings.Contains(v, `\u0000`) {
			return toJSONB(json.RawMessage(v))
		}
		return v, nil
	}
	return value, nil
}

// Dump copies all rows, as they are at one moment, into a new file (sqlite.OpenRows). It holds one row in memory.
// After an error the file is unusable.
func (db *DB) Dump(ctx context.Context, to *sql.DB) error {
	err := pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{
		IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly,
	}, func(t pgx.Tx) error {
		for _, table := range append([]string{"content_blocks"}, copied...) {
			if err := dumpTable(ctx, t, to, table); err != nil {
				return fmt.Errorf("dump %s: %w", table, err)
			}
		}
		return nil
	})
	return db.translateError(ctx, err)
}

// dumpTable copies the rows of one table in one transaction of the file. STRICT tables convert no values themselves.
func dumpTable(ctx context.Context, t pgx.Tx, to *sql.DB, table string) error {
	into, err := to.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = into.Rollback() }() // after a commit it does nothing
	found, err := into.QueryContext(ctx, `SELECT name, type FROM pragma_table_info(?)`, table)
	if err != nil {
		return err
	}
	defer found.Close()
	var columns []column
	var names, values []string
	for found.Next() {
		var c column
		if err := found.Scan(&c.Name, &c.Kind); err != nil {
			return err
		}
		columns, names = append(columns, c), append(names, c.Name)
		values = append(values, `CAST(? AS `+c.Kind+`)`)
	}
	if err := found.Err(); err != nil {
		return err
	}
	if _, err := into.ExecContext(ctx, `DELETE FROM `+table); err != nil { // a row of a migration
		return err
	}
	insert, err := into.PrepareContext(ctx, `INSERT INTO `+table+` (`+strings.Join(names, ", ")+`) VALUES (`+
		strings.Join(values, ", ")+`)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	rows, err := t.Query(ctx, selectRows(table, columns, toFile))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row, err := rows.Values()
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return into.Commit()
}
