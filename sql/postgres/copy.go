package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/dbcopy"
	"github.com/footnote/footnote/sql/pack"
)

// made are the tables and columns of this schema that are not copied, with the reason. River's own begin with
// "river_".
var made = map[string]string{"migrations": "of this schema", "copied": "says how far the copying is",
	"sessions.name":          "made of the id by the database",
	"commands":               "about runs under way; nothing is under way while data is copied",
	"runs.charged":           "about runs under way",
	"segments.started_at":    "of segments that are being written",
	"contents.packed_blocks": "blocks are copied as they are",
	"texts":                  "copied texts are in contents, and those of their passages in passages",
	"places.owner":           "about looks under way; nothing is under way while data is copied",
	"places.lease_until":     "about looks under way"}

// Target is a database that everything is copied into. Its table `copied` has the checkpoints: a row for each table,
// and one without a name for the whole (key: the source, rows: 1 when complete). The lock is session-level, so an
// interrupted copy frees it.
type Target struct {
	db   *DB
	lock *pgxpool.Conn // holds the lock against concurrent copies
}

var _ dbcopy.Target = (*Target)(nil)

// OpenTarget opens the database at url for copying, like Open.
func OpenTarget(ctx context.Context, url string, log *slog.Logger) (*Target, error) {
	db, err := openTraced(ctx, url, log, nil)
	if err != nil {
		return nil, err
	}
	return &Target{db: db}, nil
}

// Close closes the database.
func (t *Target) Close() error {
	if t.lock != nil {
		t.lock.Release() // closing the pool ends the session, and with it the lock
	}
	return t.db.Close()
}

// checkWhole returns an error for an incomplete copy. Servers call it when they open the database.
func (db *DB) checkWhole(ctx context.Context) error {
	begun, over, _, err := db.copyState(ctx)
	if err == nil && begun && !over {
		err = &chat.Error{
			Code: chat.CodeUnavailable,
			Message: "This database is half filled: run 'footnote migrate' again and let it finish, then start the " +
				"servers.",
		}
	}
	return err
}

// copyState reads the state and source of a copy into this database. Without a copy the table does not exist.
func (db *DB) copyState(ctx context.Context) (begun, over bool, source string, err error) {
	var there bool
	if err := db.queryRow(ctx, shortTime, `SELECT to_regclass('copied') IS NOT NULL`, nil, &there); err != nil ||
		!there {
		return false, false, "", err
	}
	var rows int64
	err = db.queryRow(ctx, shortTime, `SELECT key, rows FROM copied WHERE name = ''`, nil, &source, &rows)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, false, "", nil
	}
	return err == nil, rows == 1, source, err
}

// Lock locks out concurrent copies until Close. It returns chat.CodeConflict if there is one. It holds a connection
// of the pool meanwhile.
func (t *Target) Lock(ctx context.Context) (err error) {
	if t.lock, err = t.db.pool.Acquire(ctx); err != nil {
		return t.db.translateError(ctx, err)
	}
	var free bool
	if err := t.lock.QueryRow(
		ctx, `SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ' copying', 0))`,
	).Scan(&free); err != nil {
		return t.db.translateError(ctx, err)
	}
	if !free {
		return &chat.Error{
			Code: chat.CodeConflict, Message: "Another 'footnote migrate' is filling this database; wait for it",
		}
	}
	return nil
}

// Begin implements dbcopy.Target. Lock must be called before. The source is recorded first, so a copy from another
// directory can't continue in the same database.
func (t *Target) Begin(ctx context.Context, source string) (done bool, err error) {
	begun, over, from, err := t.db.copyState(ctx)
	if err != nil {
		return false, err
	}
	// Row numbers of two sources are incompatible.
	if begun && from != source {
		return false, &chat.Error{
			Code: chat.CodeConflict, Message: "The database was filled from another data directory; use an empty one",
		}
	}
	if begun {
		return over, nil
	}
	if err := t.checkEmpty(ctx); err != nil {
		return false, err
	}
	if _, err := t.db.execStatement(
		ctx, longTime,
		`CREATE TABLE IF NOT EXISTS copied (name text PRIMARY KEY, key text NOT NULL, rows bigint NOT NULL)`,
	); err != nil {
		return false, err
	}
	_, err = t.db.execStatement(ctx, longTime, `INSERT INTO copied VALUES ('', $1, 0)`, source)
	return false, err
}

// checkEmpty returns an error if any table has rows.
func (t *Target) checkEmpty(ctx context.Context) error {
	for _, table := range dbcopy.Tables() {
		if table.One {
			continue
		}
		var some bool
		if err := t.db.queryRow(ctx, longTime, `SELECT EXISTS (SELECT FROM `+table.Name+`)`, nil, &some); err != nil {
			return err
		}
		if some {
			return &chat.Error{Code: chat.CodeConflict, Message: "The database holds other data (in its table " +
				table.Name + "); use an empty one, nothing was changed"}
		}
	}
	return nil
}

// Again deletes an incomplete copy from the locked database. It returns chat.CodeConflict if the copy was complete,
// since it may be in use.
func (t *Target) Again(ctx context.Context) error {
	begun, over, _, err := t.db.copyState(ctx)
	if err != nil {
		return err
	}
	if over {
		return &chat.Error{
			Code: chat.CodeConflict, Message: "Everything was copied before and may be in use; nothing was removed",
		}
	}
	if !begun {
		return nil
	}
	return t.db.inTx(ctx, contentTime, func(x *tx) error {
		for _, table := range dbcopy.Tables() {
			if !table.One {
				if _, err := x.Exec(`TRUNCATE ` + table.Name + ` CASCADE`); err != nil {
					return err
				}
			}
		}
		_, err := x.Exec(`DELETE FROM copied`)
		return err
	})
}

// After implements dbcopy.Target. Without a row nothing of the table was copied yet.
func (t *Target) After(ctx context.Context, table dbcopy.Table) (key dbcopy.Row, rows int64, err error) {
	var text string
	err = t.db.queryRow(ctx, longTime, `SELECT key, rows FROM copied WHERE name = $1`, []any{table.Name}, &text, &rows)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, 0, nil
	}
	if err == nil {
		key, err = dbcopy.ParseKey(table, text)
	}
	return key, rows, err
}

// Put implements dbcopy.Target. The checkpoint is stored in the same transaction as its rows. A table with one row
// (table.One) is emptied first, as a migration created it.
func (t *Target) Put(ctx context.Context, table dbcopy.Table, rows []dbcopy.Row, last dbcopy.Row) error {
	key, err := dbcopy.FormatKey(last)
	if err != nil {
		return err
	}
	names := make([]string, len(table.Columns))
	for i, column := range table.Columns {
		names[i] = column.Name
	}
	return t.db.inTx(ctx, contentTime, func(x *tx) error {
		if table.One {
			if _, err := x.Exec(`DELETE FROM ` + table.Name); err != nil {
				return err
			}
		}
		if err := x.copyFrom(
			table.Name, names, len(rows), func(i int) ([]any, error) { return rows[i], nil },
		); err != nil {
			return err
		}
		_, err := x.Exec(
			`INSERT INTO copied AS c VALUES ($1, $2, $3) ON CONFLICT (name) DO UPDATE SET key = $2, rows = c.rows + $3`,
			table.Name, key, int64(len(rows)),
		)
		return err
	})
}

// Rows implements dbcopy.Target. Rows are unordered, as the checksum is independent of their order.
func (t *Target) Rows(ctx context.Context, table dbcopy.Table, each func(dbcopy.Row) error) error {
	names := make([]string, len(table.Columns))
	for i, column := range table.Columns {
		if names[i] = column.Name; column.Kind == dbcopy.JSON {
			names[i] += "::text"
		}
	}
	rows, err := t.db.pool.Query(ctx, `SELECT `+strings.Join(names, ", ")+` FROM `+table.Name)
	if err != nil {
		return t.db.translateError(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		row, err := scanRow(table, rows)
		if err != nil {
			return err
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return t.db.translateError(ctx, rows.Err())
}

// Settle implements dbcopy.Target. It sets the sequences to the highest numbers, since rows were inserted with
// explicit numbers. ANALYZE updates the planner's statistics of the new tables.
func (t *Target) Settle(ctx context.Context) error {
	// Identity columns are read from the catalogue, so a new table needs no change here.
	identities, err := queryList(ctx, t.db, longTime, scanValue[string],
		`SELECT table_name::text FROM information_schema.columns
		WHERE table_schema = current_schema() AND is_identity = 'YES' AND column_name = 'n'`)
	if err != nil {
		return err
	}
	for _, table := range identities {
		statement := fmt.Sprintf(
			`SELECT setval(pg_get_serial_sequence('%[1]s', 'n'), greatest(max(n), 1), max(n) IS NOT NULL) FROM %[1]s`,
			table,
		)
		if _, err := t.db.execStatement(ctx, longTime, statement); err != nil {
			return fmt.Errorf("numbers of %s: %w", table, err)
		}
	}
	_, err = t.db.execStatement(ctx, contentTime, `ANALYZE`)
	return err
}

// End marks the copy as complete, and the documents whose vectors are all in the vector store.
func (t *Target) End(ctx context.Context, semantic []string) error {
	return t.db.inTx(ctx, contentTime, func(x *tx) error {
		if _, err := x.Exec(
			`UPDATE documents SET semantic = $2 WHERE id = ANY($1)`, semantic, string(corpus.SemanticReady),
		); err != nil {
			return err
		}
		_, err := x.Exec(`UPDATE copied SET rows = 1 WHERE name = ''`)
		return err
	})
}

// Fit implements dbcopy.Target. It does not modify row.
func (t *Target) Fit(table dbcopy.Table, row dbcopy.Row) (dbcopy.Row, error) {
	if len(row) != len(table.Columns) {
		return nil, fmt.Errorf("%d values for %d columns", len(row), len(table.Columns))
	}
	// A large text is compressed here, as in PutContent.
	if table.Name == "contents" {
		var err error
		if row, err = fitContent(table, row); err != nil {
			return nil, err
		}
	}
	fitting := make(dbcopy.Row, len(row))
	for i, column := range table.Columns {
		var err error
		if fitting[i], err = fitValue(column.Kind, row[i]); err != nil {
			return nil, fmt.Errorf("column %s: %w", column.Name, err)
		}
	}
	return fitting, nil
}

// fitContent compresses the text of a large document in pieces, as TextPart reads it.
func fitContent(table dbcopy.Table, row dbcopy.Row) (dbcopy.Row, error) {
	place := func(name string) int {
		return slices.IndexFunc(table.Columns, func(c dbcopy.Column) bool { return c.Name == name })
	}
	body, packed := place("body"), place("packed")
	text, _ := row[body].(string)
	if text = legibleText(text); len(text) < pack.TextFrom {
		return row, nil
	}
	var all []byte
	for piece := range textPieces(text) {
		short, err := pack.Pack(piece)
		if err != nil {
			return nil, err
		}
		all = append(all, short...)
	}
	row = slices.Clone(row)
	row[body], row[packed] = "", all
	return row, nil
}

// fitValue converts a source's value to the target's column type. A wrong type is an error, which detects a schema
// that was changed in one database only.
func fitValue(kind dbcopy.Kind, value any) (any, error) {
	switch v := value.(type) {
	case int64:
		if kind == dbcopy.Bool {
			return v != 0, nil
		}
		if kind == dbcopy.Int {
			return v, nil
		}
	case string:
		switch kind {
		case dbcopy.Text:
			return legibleText(v), nil
		case dbcopy.JSON:
			return fitJSON(v)
		case dbcopy.Bytes:
			return append([]byte{}, v...), nil
		case dbcopy.Int, dbcopy.Bool:
		}
	case []byte:
		if kind == dbcopy.Bytes {
			return append([]byte{}, v...), nil
		}
	case bool:
		if kind == dbcopy.Bool {
			return v, nil
		}
	}
	return nil, fmt.Errorf("a %T is not what belongs there", value)
}

// fitJSON normalises JSON for a jsonb column: it removes NUL, which SQLite permits.
func fitJSON(text string) (string, error) {
	text = legibleText(text)
	if !strings.Contains(text, `\u0000`) {
		return text, nil
	}
	return toJSONB(json.RawMessage(text))
}

// scanRow reads a row of the target with the Go types of Fit, so that both sides have the same checksum.
func scanRow(table dbcopy.Table, from scanner) (dbcopy.Row, error) {
	dest := make([]any, len(table.Columns))
	for i, column := range table.Columns {
		switch column.Kind {
		case dbcopy.Int:
			dest[i] = new(int64)
		case dbcopy.Bytes:
			dest[i] = new([]byte)
		case dbcopy.Bool:
			dest[i] = new(bool)
		case dbcopy.Text, dbcopy.JSON:
			dest[i] = new(string)
		}
	}
	if err := from.Scan(dest...); err != nil {
		return nil, err
	}
	row := make(dbcopy.Row, len(dest))
	for i := range dest {
		switch v := dest[i].(type) {
		case *int64:
			row[i] = *v
		case *[]byte:
			row[i] = *v
		case *bool:
			row[i] = *v
		case *string:
			row[i] = *v
		}
	}
	return row, nil
}
