package postgres

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"

	"footnote/chat"
	"footnote/corpus"
	"footnote/sql/migrations"
)

// A database from before package postings opens, at two replicas at once, and finds what it found: the index is made anew from the passages.
func TestAnOlderDatabaseGetsItsIndex(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	old := openOlder(t, url, all[:7])
	const passages = 300
	exec(t, old, `INSERT INTO documents (id, user_id, namespace, path, filename, title, title_fold, search_fold, mime, sha256, bytes, given_meta, meta, state, semantic,
		progress, language, passages, content, changed, created_at, updated_at)
		SELECT 'd' || n, u, 'default', 'a.md', 'a.md', 'House', 'house', '', '', 'x', 1, '{}', '{}', 'ready', 'off', '{}', 'en', 300, n, n, 1, 1
		FROM unnest('{anna,bert}'::text[]) WITH ORDINALITY AS users (u, n)`)
	exec(t, old, `INSERT INTO contents (document, first_row, passages, lengths, sizes, body, blocks, sha256, filename, mime, bytes)
		SELECT n, 1 + (n - 1) * 300, 300, decode(repeat('0900', 300), 'hex'), '[]', '', '[]', 'x', 'a.md', '', 1 FROM generate_series(1, 2) n`)
	exec(t, old, `INSERT INTO passages SELECT i, 'p' || i, (i + 299) / 300, (i - 1) % 300, 0, 0, '', '', 1, 'Attic', 9,
		'the red roofs of ' || (ARRAY['anna', 'bert'])[(i + 299) / 300] || ' leak at number' || (i - 1) % 300 FROM generate_series(1, 600) i`)
	exec(t, old, `UPDATE corpus_state SET changes = 2, next_row = 601`)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	dbs := make([]*DB, 2)
	var replicas sync.WaitGroup
	for i := range dbs {
		replicas.Go(func() {
			var err error
			if dbs[i], err = Open(t.Context(), url, slog.New(slog.DiscardHandler)); err != nil {
				t.Errorf("Open: %v", err)
			}
		})
	}
	replicas.Wait()
	for _, db := range dbs {
		defer db.Close()
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
		if err := db.queryRow(t.Context(), longTime, `SELECT (SELECT count(*) FROM unindexed), (SELECT count(*) FROM segments)`, nil, &left, &segments); err != nil || left != 0 || segments != 2 {
			t.Errorf("%d contents without postings and %d segments, %v; want 0 and 2", left, segments, err)
		}
	}
}

// openOlder opens a database with the first steps of the schema only.
func openOlder(t *testing.T, url string, some []migrations.Migration) *DB {
	t.Helper()
	db, err := openAtStep(t.Context(), url, slog.New(slog.DiscardHandler), nil, some)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// Two replicas take in documents of one user, and merge their segments, at the same time: both find all of them.
func TestReplicasThatAddTogetherLoseNothing(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	dbs := []*DB{openURL(t, url), openURL(t, url)}
	const each = 40
	var replicas sync.WaitGroup
	for r, db := range dbs {
		replicas.Go(func() {
			ds, lexical := db.Documents(), db.Lexical()
			for i := range each {
				name := fmt.Sprintf("%d-%d", r, i)
				d, _, err := ds.Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: name, SHA256: name})
				if err == nil {
					err = ds.PutContent(t.Context(), d.ID, corpus.Content{SHA256: name, Passages: []corpus.Passage{{ID: name, Text: "roof " + name}},
						Terms: []corpus.Terms{{Body: fmt.Sprintf("roof own%d word%s", r, name)}}})
				}
				if err != nil {
					t.Errorf("put %s: %v", name, err)
					return
				}
				hits, err := lexical.SearchLexical(t.Context(), chat.Local, corpus.LexicalQuery{Terms: []string{fmt.Sprint("own", r)}}, 1000)
				if err != nil || len(hits) != i+1 {
					t.Errorf("replica %d finds %d of its %d documents, %v", r, len(hits), i+1, err)
				}
			}
		})
	}
	replicas.Wait()
	for r, db := range dbs {
		hits, err := db.Lexical().SearchLexical(t.Context(), chat.Local, corpus.LexicalQuery{Terms: []string{"roof"}}, 1000)
		if err != nil || len(hits) != 2*each {
			t.Errorf("replica %d finds %d documents, %v; want %d", r, len(hits), err, 2*each)
		}
	}
	var segments, pagesOfNone int
	if err := dbs[0].queryRow(t.Context(), longTime, `SELECT (SELECT count(*) FROM segments), (SELECT count(*) FROM segment_pages WHERE segment NOT IN (SELECT n FROM segments))`,
		nil, &segments, &pagesOfNone); err != nil || segments > 20 || pagesOfNone > 0 {
		t.Errorf("%d segments and %d pages of none, %v; want few and none", segments, pagesOfNone, err)
	}
}
