package sqlite

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/migrations"
)

// A data directory from before package postings opens, and finds what it found: the index is made anew from the passages, some of them packed.
func TestAnOlderDataDirectoryGetsItsIndex(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	conn := openConn(t, path)
	if err := migrateTo(t.Context(), conn, slog.New(slog.DiscardHandler), all[:12]); err != nil {
		t.Fatal(err)
	}
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const passages = 300
	for n := 1; n <= 2; n++ {
		user := []string{"anna", "bert"}[n-1]
		exec(`INSERT INTO documents (n, id, user, namespace, path, filename, title, title_fold, search_fold, mime, sha256, bytes, given_meta, meta, state, semantic,
			progress, language, passages, content, created_at, updated_at)
			VALUES (?1, 'd' || ?1, ?2, 'default', 'a.md', 'a.md', 'House', 'house', '', '', 'x', 1, '{}', '{}', 'ready', 'off', '{}', 'en', ?3, ?1, 1, 1)`, n, user, passages)
		exec(`INSERT INTO contents (n, document, live, changed, first_row, passages, lengths, sizes, sha256, filename, mime, bytes, started_at)
			VALUES (?1, ?1, 1, ?1, ?2, ?3, ?4, '[]', 'x', 'a.md', '', 1, 1)`, n, 1+(n-1)*passages, passages, make([]byte, 2*passages))
		for i := range passages {
			row := 1 + (n-1)*passages + i
			text := fmt.Sprintf("the red roofs of %s leak at number%d", user, i)
			exec(`INSERT INTO passages (row, id, content, ordinal, start_off, end_off, first_block, last_block, page, section, tokens, text)
				VALUES (?, ?, ?, ?, 0, 0, '', '', 1, 'Attic', 9, ?)`, row, fmt.Sprintf("p%d", row), n, i, text)
			exec(`INSERT INTO lexical (rowid, t, b) VALUES (?, 'house attic', ?)`, row, text)
		}
	}
	exec(`INSERT INTO lexicon (term) VALUES ('roof')`)
	exec(`UPDATE corpus_state SET changes = 2, next_row = ?`, 2*passages+1)
	for range 2 { // the second time there is nothing left to do
		db := openAt(t, path)
		for query, want := range map[string]string{"number7": "p8", "number299": "p300"} {
			hits, err := db.Lexical().SearchLexical(t.Context(), chat.Scope{User: "anna"}, corpus.LexicalQuery{Terms: []string{query}, Phrases: [][]string{{"red", "roof"}}}, 1)
			if err != nil || len(hits) != 1 || hits[0].PassageID != want {
				t.Errorf("%s finds %v, %v; want %s", query, hits, err, want)
			}
		}
		for word, want := range map[string]int{"attic": passages, "anna": 0, "bert": passages} {
			if hits, err := db.Lexical().SearchLexical(t.Context(), chat.Scope{User: "bert"}, corpus.LexicalQuery{Terms: []string{word}}, 1000); err != nil || len(hits) != want {
				t.Errorf("%s is found in %d passages, %v; want %d", word, len(hits), err, want)
			}
		}
		var left, segments int
		if err := db.queryRow(t.Context(), `SELECT (SELECT count(*) FROM unindexed), (SELECT count(*) FROM segments)`, nil, &left, &segments); err != nil || left != 0 || segments != 2 {
			t.Errorf("%d contents without postings and %d segments, %v; want 0 and 2", left, segments, err)
		}
	}
}
