package postgres

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/sql/migrations"
)

// A database of the version before the first step opens, at two replicas at once, and keeps what it had. Contents that
// its index does not hold get their postings.
func TestTheDatabaseOfTheVersionBeforeIsTakenOver(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	old := openVersion8(t, url)
	exec(
		t, old,
		`INSERT INTO sessions (id, user_id, title, title_fold, head, turns, created_at, updated_at) VALUES ('s', `+
			`'anna', 'S', 's', 'r', 1, 1, 1)`,
	)
	exec(
		t, old,
		`INSERT INTO runs (id, session, parent, depth, status, owner, lease_until, created_at) VALUES ('r', 1, '', `+
			`1, 'running', 'me', 9000000000000000, 1)`,
	)
	exec(t, old, `INSERT INTO wishes (run, about, kind, call) VALUES (1, 'run', 'stop', '')`)
	const passages = 300
	exec(t, old,
		`INSERT INTO documents (id, user_id, namespace, path, filename, title, title_fold, search_fold, mime, `+
			`sha256, bytes, given_meta, meta, state, semantic,
		progress, language, passages, content, changed, created_at, updated_at)
		SELECT 'd' || n, u, 'default', 'a.md', 'a.md', 'House', 'house', '', '', 'x', 1, '{}', '{}', 'ready', 'off', `+
			`'{}', 'en', 300, n, n, 1, 1
		FROM unnest('{anna,bert}'::text[]) WITH ORDINALITY AS users (u, n)`)
	exec(t, old,
		`INSERT INTO contents (document, first_row, passages, lengths, sizes, body, blocks, sha256, filename, mime, `+
			`bytes)
		SELECT n, 1 + (n - 1) * 300, 300, decode(repeat('0900', 300), 'hex'), '[]', '', '[]', 'x', 'a.md', '', 1 `+
			`FROM generate_series(1, 2) n`)
	exec(t, old, `INSERT INTO passages SELECT i, 'p' || i, (i + 299) / 300, (i - 1) % 300, 0, 0, '', '', 1, 'Attic', 9,
		'the red roofs of ' || (ARRAY['anna', 'bert'])[(i + 299) / 300] || ' leak at number' || (i - 1) % 300 FROM `+
		`generate_series(1, 600) i`)
	exec(t, old, `INSERT INTO unindexed SELECT n FROM contents`)
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
				t.Errorf("Open: %v, want no error", err)
			}
		})
	}
	replicas.Wait()
	for _, db := range dbs {
		defer db.Close()
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
		var left, segments int
		if err := db.queryRow(t.Context(), longTime,
			`SELECT (SELECT count(*) FROM unindexed), (SELECT count(*) FROM segments)`, nil, &left,
			&segments); err != nil || left != 0 || segments != 2 {
			t.Errorf("%d contents without postings and %d segments, %v; want 0 and 2", left, segments, err)
		}
		if list, err := db.Chats().Commands(t.Context(), "me"); err != nil || len(list) != 1 || list[0].RunID != "r" ||
			list[0].Kind != "stop" {
			t.Errorf("the commands are %+v, %v; want the one of before", list, err)
		}
		if d := cmp.Diff(schemaOf(t, openNew(t)), schemaOf(t, db)); d != "" {
			t.Errorf("the schema differs from that of a new database (-new +taken over):\n%s", d)
		}
	}
}

// openVersion8 opens an empty database of version 8.
func openVersion8(t *testing.T, url string) *DB {
	t.Helper()
	script, err := os.ReadFile("testdata/version_8.sql")
	if err != nil {
		t.Fatal(err)
	}
	queue := []migrations.Migration{
		{Number: 1, Name: "river alone",
			Script: `DROP TABLE migrations; CREATE TABLE migrations (number int, name text, min_compatible int)`},
	}
	db, err := openAtStep(t.Context(), url, slog.New(slog.DiscardHandler), nil, queue)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, db, `DROP TABLE migrations`)
	exec(t, db, string(script))
	return db
}

// schemaOf lists columns, indexes, constraints and functions of a database, without the order of columns.
func schemaOf(t *testing.T, db *DB) (list []string) {
	t.Helper()
	list, err := queryList(t.Context(), db, longTime, scanValue[string],
		`WITH mine AS (SELECT oid, relname, reloptions FROM pg_class WHERE relnamespace = `+
			`current_schema()::regnamespace AND relkind IN ('r', 'S'))
		SELECT relname::text || ' ' || attname::text || ' ' || format_type(atttypid, atttypmod) || ' ' || `+
			`attnotnull::text || attidentity::text || attgenerated::text || attstorage::text || ' ' || `+
			`attcollation::regcollation::text || ' '
			|| coalesce(pg_get_expr(adbin, adrelid), '-') || ' ' || coalesce(reloptions::text, '')
			FROM mine JOIN pg_attribute a ON attrelid = mine.oid LEFT JOIN pg_attrdef d ON adrelid = attrelid AND `+
			`adnum = attnum WHERE attnum > 0 AND NOT attisdropped
		UNION ALL SELECT tablename::text || ' ' || replace(indexdef, current_schema() || '.', '') FROM pg_indexes `+
			`WHERE schemaname = current_schema()
		UNION ALL SELECT relname::text || ' ' || conname::text || ' ' || replace(pg_get_constraintdef(c.oid), `+
			`current_schema() || '.', '') FROM mine JOIN pg_constraint c ON conrelid = mine.oid AND contype <> 'n'
		UNION ALL SELECT proname::text || ' ' || prosrc || provolatile::text FROM pg_proc WHERE pronamespace = `+
			`current_schema()::regnamespace
		ORDER BY 1`)
	if err != nil || len(list) < 100 {
		t.Fatalf("the schema has %d parts, %v; want at least 100", len(list), err)
	}
	return list
}

func TestADatabaseOfAnEarlyVersionIsRefused(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	db := openVersion8(t, url)
	exec(t, db, `UPDATE migrations SET number = 7 WHERE number = 8`)
	_, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if want := "early Footnote (version 7). This one takes over version 8"; err == nil ||
		!strings.Contains(chat.MessageOf(err), want) {
		t.Errorf("Open = %v, want %q", err, want)
	}
	exec(t, db, `SELECT FROM wishes`)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
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
					err = ds.PutContent(t.Context(), d.ID, corpus.Content{
						SHA256: name, Passages: []corpus.Passage{{ID: name, Text: "roof " + name}},
						Terms: []corpus.Terms{{Body: fmt.Sprintf("roof own%d word%s", r, name)}},
					})
				}
				if err != nil {
					t.Errorf("put %s: %v, want no error", name, err)
					return
				}
				hits, err := lexical.SearchLexical(t.Context(), chat.Local,
					corpus.LexicalQuery{Words: corpustest.Words(fmt.Sprint("own", r))}, 1000)
				if err != nil || len(hits) != i+1 {
					t.Errorf("replica %d finds %d of its %d documents, %v; want %d hits", r, len(hits), i+1, err, i+1)
				}
			}
		})
	}
	replicas.Wait()
	for r, db := range dbs {
		hits, err := db.Lexical().SearchLexical(t.Context(), chat.Local,
			corpus.LexicalQuery{Words: corpustest.Words("roof")}, 1000)
		if err != nil || len(hits) != 2*each {
			t.Errorf("replica %d finds %d documents, %v; want %d", r, len(hits), err, 2*each)
		}
	}
	var segments, pagesOfNone int
	if err := dbs[0].queryRow(t.Context(), longTime,
		`SELECT (SELECT count(*) FROM segments), (SELECT count(*) FROM segment_pages WHERE segment NOT IN (SELECT n `+
			`FROM segments))`,
		nil, &segments, &pagesOfNone); err != nil || segments > 20 || pagesOfNone > 0 {
		t.Errorf("%d segments and %d pages of none, %v; want few and none", segments, pagesOfNone, err)
	}
}
