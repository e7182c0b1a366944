package sqlite

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
)

// The data directory of the version before the first step opens and keeps what it had. Contents that its index does not
// hold get their postings.
func TestTheDataDirectoryOfTheVersionBeforeIsTakenOver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	conn := openConn(t, path)
	script, err := os.ReadFile("testdata/version_13.sql")
	if err != nil {
		t.Fatal(err)
	}
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v, want no error", statement, err)
		}
	}
	exec(string(script))
	exec(
		`INSERT INTO sessions (n, id, user, title, title_fold, created_at, updated_at) VALUES (1, 's', 'anna', 'S', ` +
			`'s', 1, 1)`,
	)
	exec(
		`INSERT INTO runs (n, id, session, parent, depth, status, owner, lease_until, created_at) VALUES (1, 'r', 1, `+
			`0, 1, 'running', 'me', ?, 1)`, math.MaxInt64,
	)
	exec(`INSERT INTO wishes (run, about, kind, call, input) VALUES (1, 'run', 'stop', '', NULL)`)
	const passages = 300
	for n := 1; n <= 2; n++ {
		user := []string{"anna", "bert"}[n-1]
		exec(`INSERT INTO documents (n, id, user, namespace, path, filename, title, title_fold, search_fold, mime, `+
			`sha256, bytes, given_meta, meta, state, semantic,
			progress, language, passages, content, created_at, updated_at)
			VALUES (?1, 'd' || ?1, ?2, 'default', 'a.md', 'a.md', 'House', 'house', '', '', 'x', 1, '{}', '{}', `+
			`'ready', 'off', '{}', 'en', ?3, ?1, 1, 1)`, n, user, passages)
		exec(`INSERT INTO contents (n, document, live, changed, first_row, passages, lengths, sizes, sha256, `+
			`filename, mime, bytes, started_at)
			VALUES (?1, ?1, 1, ?1, ?2, ?3, ?4, '[]', 'x', 'a.md', '', 1, 1)`, n, 1+(n-1)*passages, passages,
			make([]byte, 2*passages))
		for i := range passages {
			row := 1 + (n-1)*passages + i
			text := fmt.Sprintf("the red roofs of %s leak at number%d", user, i)
			exec(`INSERT INTO passages (row, id, content, ordinal, start_off, end_off, first_block, last_block, `+
				`page, section, tokens, text)
				VALUES (?, ?, ?, ?, 0, 0, '', '', 1, 'Attic', 9, ?)`, row, fmt.Sprintf("p%d", row), n, i, text)
		}
	}
	exec(`INSERT INTO unindexed SELECT n FROM contents`)
	exec(`UPDATE corpus_state SET changes = 2, next_row = ?, vector_changes = 1, vector_dimension = 2`, 2*passages+1)
	exec(`INSERT INTO vectors (passage_id, document, user, namespace, body) VALUES ('p7', 'd1', 'anna', 'default', ?)`,
		[]byte{0, 0, 128, 63, 0, 0, 0, 0}) // 1, 0
	for again := range 2 { // the second time there is nothing left to do
		db := openAt(t, path)
		for query, want := range map[string]string{"number7": "p8", "number299": "p300"} {
			hits, err := db.Lexical().SearchLexical(t.Context(), chat.Scope{User: "anna"},
				corpus.LexicalQuery{Words: corpustest.Words(query), Phrases: [][]string{{"red", "roof"}}}, 1)
			if err != nil || len(hits) != 1 || hits[0].PassageID != want {
				t.Errorf("%s finds %v, %v; want %s", query, hits, err, want)
			}
		}
		for word, want := range map[string]int{"attic": passages, "anna": 0, "bert": passages} {
			if hits, err := db.Lexical().SearchLexical(t.Context(), chat.Scope{User: "bert"},
				corpus.LexicalQuery{Words: corpustest.Words(word)}, 1000); err != nil || len(hits) != want {
				t.Errorf("%s is found in %d passages, %v; want %d", word, len(hits), err, want)
			}
		}
		nameVectors(t, db.Vectors("model"), 1-again)
		var left, segments int
		if err := db.queryRow(t.Context(), `SELECT (SELECT count(*) FROM unindexed), (SELECT count(*) FROM segments)`,
			nil, &left, &segments); err != nil || left != 0 || segments != 2 {
			t.Errorf("%d contents without postings and %d segments, %v; want 0 and 2", left, segments, err)
		}
		if list, err := db.Chats().Commands(t.Context(), "me"); err != nil || len(list) != 1 || list[0].RunID != "r" ||
			list[0].Kind != "stop" {
			t.Errorf("the commands are %+v, %v; want the one of before", list, err)
		}
		if d := cmp.Diff(schemaOf(t, openAt(t, filepath.Join(t.TempDir(), "new.db"))), schemaOf(t, db)); d != "" {
			t.Errorf("the schema differs from that of a new database (-new +taken over):\n%s", d)
		}
	}
}

// nameVectors checks that so many vectors have no model, as those of an earlier version, and gives them to a model.
func nameVectors(t *testing.T, vs *Vectors, want int) {
	t.Helper()
	found := func() []corpus.Hit {
		t.Helper()
		hits, err := vs.SearchVectors(t.Context(), chat.Scope{User: "anna"}, []float32{1, 0}, nil, 9)
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	some, err := vs.Unnamed(t.Context(), 8)
	if err != nil || len(some) != want {
		t.Fatalf("%d vectors without a model, %v; want %d", len(some), err, want)
	}
	if want > 0 {
		if e := some[0]; e.Title != "House" || e.Passage.Section != "Attic" || len(e.Vector.Values) != 2 {
			t.Errorf("the vector is %+v, want one of House, Attic", e)
		}
		if hits := found(); len(hits) > 0 {
			t.Errorf("%v found before the vectors have a model, want none", hits)
		}
		if err := vs.Name(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if hits := found(); len(hits) != 1 || hits[0].PassageID != "p7" || hits[0].Cosine != 1 {
		t.Errorf("%v found, want p7 with 1", hits)
	}
	if err := vs.Complete(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// schemaOf lists columns, indexes, references and further properties of a database, without the order of columns.
func schemaOf(t *testing.T, db *DB) (list []string) {
	t.Helper()
	err := db.eachRow(t.Context(),
		`SELECT m.name || ' ' || l.wr || l.strict || ' ' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || `+
			`coalesce(c.dflt_value, '-') || ' ' || c.pk || c.hidden
			FROM sqlite_schema m JOIN pragma_table_list l ON l.name = m.name JOIN pragma_table_xinfo(m.name) c WHERE `+
			`m.type = 'table'
		UNION ALL SELECT m.tbl_name || ' ' || m.name || ' ' || coalesce(m.sql, (SELECT group_concat(name) FROM `+
			`pragma_index_info(m.name))) FROM sqlite_schema m WHERE m.type = 'index'
		UNION ALL SELECT m.name || ' -> ' || f."table" || ' ' || f."from" || ' ' || f.on_delete FROM sqlite_schema m `+
			`JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'
		ORDER BY 1`, nil, func(row scanner) error {
			list = append(list, "")
			return row.Scan(&list[len(list)-1])
		})
	if err != nil || len(list) < 100 {
		t.Fatalf("the schema has %d parts, %v; want at least 100", len(list), err)
	}
	return list
}

func TestADataDirectoryOfAnEarlyVersionIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	conn := openConn(t, path)
	if _, err := conn.ExecContext(t.Context(),
		`CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;
		INSERT INTO migrations VALUES (12, '012_packed_passages', 1); CREATE TABLE sessions (n)`); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if want := "early Footnote (version 12). This one takes over version 13"; err == nil ||
		!strings.Contains(chat.MessageOf(err), want) {
		t.Errorf("Open = %v, want %q", err, want)
	}
	var tables, version int
	if err := conn.QueryRowContext(
		t.Context(), `SELECT count(*), (SELECT max(number) FROM migrations) FROM sqlite_schema WHERE type = 'table'`,
	).Scan(&tables, &version); err != nil || tables != 2 || version != 12 {
		t.Errorf("%d tables of version %d are there, %v; want 2 of version 12", tables, version, err)
	}
}
