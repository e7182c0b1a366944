package postgres

import (
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/sqlite"
)

// notCopied are the tables and columns of a file that Load and Dump leave out, with the reason.
var notCopied = map[string]string{
	"migrations":                   "of its schema",
	"jobs":                         "a server queues unfinished documents when it starts",
	"vectors":                      "computed again",
	"vector_models":                "of vectors",
	"vector_signs":                 "of vectors",
	"corpus_state.vector_changes":  "of vectors",
	"corpus_state.vector_removals": "of vectors",
	"documents.semantic":           "off until there are vectors",
	"contents.started_at":          "of contents that are being written",
	"segment_pages.n":              "used by no other table",
}

func openRows(t *testing.T) *sql.DB {
	t.Helper()
	file, err := sqlite.OpenRows(t.Context(), filepath.Join(t.TempDir(), "x.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// readRows returns the rows of a statement, each as text, sorted.
func readRows(t *testing.T, file *sql.DB, statement string) (list []string) {
	t.Helper()
	rows, err := file.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	row, dest := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(row))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// columnsOf returns the columns of each table of a file that is copied.
func columnsOf(t *testing.T, file *sql.DB) map[string][]column {
	t.Helper()
	tables := map[string][]column{}
	for _, row := range readRows(t, file, `SELECT t.name, c.name, c.type FROM pragma_table_list t
		JOIN pragma_table_info(t.name) c WHERE t.schema = 'main' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'`) {
		part := strings.Fields(strings.Trim(row, "[]"))
		if notCopied[part[0]] == "" {
			tables[part[0]] = append(tables[part[0]], column{part[1], part[2]})
		}
	}
	return tables
}

// fillRows inserts two rows into each table of a file, whose values differ by column. A column that refers to another
// row has the row's number.
func fillRows(t *testing.T, file *sql.DB) {
	t.Helper()
	numbers := strings.Fields(`n row session run head parent document content segment place first_row`)
	for table, columns := range columnsOf(t, file) {
		for r := range int64(2) {
			r++
			if table == "corpus_state" && r > 1 {
				continue
			}
			values, names := make([]any, len(columns)), make([]string, len(columns))
			for i, c := range columns {
				names[i] = c.Name
				switch {
				case c.Kind == "TEXT":
					values[i] = fmt.Sprintf("text %d", r)
				case c.Kind == "BLOB":
					values[i] = []byte{0, 0xff, byte(r)}
				case slices.Contains(numbers, c.Name):
					values[i] = r
				default:
					values[i] = 100*r + int64(i)
				}
				switch table + "." + c.Name {
				case "documents.given_meta", "documents.meta":
					values[i] = fmt.Sprintf(`{"n": %d}`, r)
				case "documents.purging", "content_blocks.piece":
					values[i] = 0
				case "queued.taken", "webhooks.local", "oauth.used", "segments.live":
					values[i] = r - 1
				case "contents.live":
					values[i] = 1
				case "events.id":
					values[i] = r<<20 | 7
				case "texts.at":
					values[i] = r << 32
				case "content_blocks.body":
					values[i] = `[{"id":"b1"},{"id":"b2"}]`
				case "content_blocks.packed", "texts.packed", "passages.packed":
					values[i] = nil
				case "idempotency_keys.key", "run_texts.answer":
					values[i] = "any \xff bytes " + fmt.Sprint(r)
				}
			}
			statement := `INSERT OR REPLACE INTO ` + table + ` (` + strings.Join(names, ", ") + `) VALUES (` +
				strings.Repeat("?, ", len(values)-1) + `?)`
			if _, err := file.ExecContext(t.Context(), statement, values...); err != nil {
				t.Fatalf("%s: %v, want no error", table, err)
			}
		}
	}
}

// TestEveryTableAndColumnIsCopied copies a file into a database and that into another file. A new table or column
// must arrive there, or be listed in notCopied with a reason.
func TestEveryTableAndColumnIsCopied(t *testing.T) {
	t.Parallel()
	from, to, db := openRows(t), openRows(t), openNew(t)
	fillRows(t, from)
	if err := db.Load(t.Context(), from); err != nil {
		t.Fatalf("Load: %v, want no error", err)
	}
	if err := db.Dump(t.Context(), to); err != nil {
		t.Fatalf("Dump: %v, want no error", err)
	}
	for table, columns := range columnsOf(t, from) {
		var names []string
		for _, c := range columns {
			if notCopied[table+"."+c.Name] == "" {
				names = append(names, c.Name)
			}
		}
		statement := `SELECT ` + strings.Join(names, ", ") + ` FROM ` + table
		if table == "texts" { // they are compressed
			statement = `SELECT at, unpacked(body, packed) FROM texts`
		}
		got, want := readRows(t, to, statement), readRows(t, from, statement)
		if d := cmp.Diff(got, want); d != "" || len(want) == 0 {
			t.Errorf("%s: %d rows (-got +want):\n%s", table, len(want), d)
		}
	}
	there, err := queryList(t.Context(), db, longTime, scanValue[string], `SELECT table_name
		FROM information_schema.tables WHERE table_schema = current_schema() AND table_name NOT LIKE 'river%'
			AND table_name <> 'migrations'`)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(slices.Sorted(slices.Values(copied)), slices.Sorted(slices.Values(there))); d != "" {
		t.Errorf("tables of the database (-copied +existing):\n%s", d)
	}
	run, _, err := db.Chats().StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q"},
		chat.Lease{Owner: "server"})
	if err != nil {
		t.Errorf("a new run: %+v, %v; want a number after those of the file", run, err)
	}
}

func TestLoadRequiresEmptyDatabaseAndIsAtomic(t *testing.T) {
	t.Parallel()
	from, db := openRows(t), openNew(t)
	fillRows(t, from)
	// The last table but one can't be read.
	if _, err := from.ExecContext(t.Context(), `ALTER TABLE corpus_versions RENAME TO gone`); err != nil {
		t.Fatal(err)
	}
	if err := db.Load(t.Context(), from); err == nil {
		t.Error("Load of a file without a table: got no error, want one")
	}
	if err := db.CheckEmpty(t.Context()); err != nil {
		t.Errorf("after a failed Load: %v, want it empty", err)
	}
	if _, err := from.ExecContext(t.Context(), `ALTER TABLE gone RENAME TO corpus_versions`); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		file := openRows(t)
		fillRows(t, file)
		wg.Go(func() { errs[i] = db.Load(t.Context(), file) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || chat.CodeOf(errs[0]) != chat.CodeConflict && errs[0] != nil ||
		chat.CodeOf(errs[1]) != chat.CodeConflict && errs[1] != nil {
		t.Errorf("two at once: %v; want one to be refused", errs)
	}
	if err := db.CheckEmpty(t.Context()); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("CheckEmpty: %v, want a conflict", err)
	}
}
