package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/sql/migrations"
)

const (
	benchDocuments  = 2500
	benchPassages   = 20 // per document
	benchWords      = 250
	benchVocabulary = 100_000
	benchDimension  = 384
)

// zipf returns the rank of a word, starting at 1. The word of rank r is about r times rarer than the first.
func zipf(random *rand.Rand, from, to float64) int {
	return int(from * math.Exp(random.Float64()*math.Log(to/from)))
}

// syllables are combined into artificial words, so that trigrams are shared as in a natural language.
var syllables = strings.Fields(
	"ba be bi bo bu da de di do du fa fe fi fo fu ga ge gi go gu ka ke ki ko ku la le li lo lu ma me mi mo mu na ne " +
		"ni no nu ra re ri ro ru sa se si so su ta te ti to tu",
)

func benchWord(rank int) string {
	var word strings.Builder
	for n := rank + 50; n > 0; n /= len(syllables) {
		word.WriteString(syllables[n%len(syllables)])
	}
	return word.String()
}

// benchContent returns the content of a document, with words drawn from a Zipf distribution.
func benchContent(random *rand.Rand, d corpus.Document, passages int) corpus.Content {
	c := corpus.Content{SHA256: d.SHA256}
	var text strings.Builder
	for i := range passages {
		var words []string
		for range benchWords {
			words = append(words, benchWord(zipf(random, 1, benchVocabulary)))
		}
		body, start := strings.Join(words, " "), text.Len()
		text.WriteString(body)
		c.Passages = append(c.Passages, corpus.Passage{
			ID: fmt.Sprintf("%s-%04d", d.ID, i), DocumentID: d.ID, Ordinal: i, Start: start, End: text.Len(),
			Text: body,
		})
		c.Terms = append(c.Terms, corpus.Terms{Title: strings.Join(words[:4], " "), Body: body})
		text.WriteString("\n\n")
	}
	c.Extracted.Text = text.String()
	return c
}

func benchPut(b *testing.B, ds *Documents, name string) corpus.Document {
	b.Helper()
	d, _, err := ds.Put(b.Context(), corpus.Document{User: chat.LocalUser, Path: name, SHA256: name})
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// fill stores the 50,000 passages. It returns the time taken, excluding the time needed to generate them.
func fill(b *testing.B, db *DB) time.Duration {
	b.Helper()
	random, ds := rand.New(rand.NewPCG(1, 2)), db.Documents()
	var took time.Duration
	for i := range benchDocuments {
		d := benchPut(b, ds, fmt.Sprint("document ", i))
		c := benchContent(random, d, benchPassages)
		start := time.Now()
		if err := ds.PutContent(b.Context(), d.ID, c); err != nil {
			b.Fatal(err)
		}
		took += time.Since(start)
	}
	return took
}

// report sorts the latencies and reports their percentiles.
func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}

// BenchmarkCorpus measures the index with 50,000 passages of 250 words each. Run it with
//
//	go test -bench=Corpus -benchtime=1000x -run=^$
func BenchmarkCorpus(b *testing.B) {
	path := filepath.Join(b.TempDir(), "footnote.db")
	db := openAt(b, path)
	took := fill(b, db)
	lexical, random := db.Lexical(), rand.New(rand.NewPCG(3, 4))
	words := func(n int) (list []string) { // content words, from common to rare
		for range n {
			list = append(list, benchWord(zipf(random, 40, 50_000)))
		}
		return list
	}
	question := func() []string { // content words mixed with function words
		list := words(2 + random.IntN(4))
		for range 5 {
			list = append(list, benchWord(zipf(random, 1, 40)))
		}
		return list
	}
	search := func(terms func() []string, s chat.Scope, documents []string) func(*testing.B) {
		return func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				q := corpus.LexicalQuery{Words: corpustest.Words(terms()...), Documents: documents}
				start := time.Now()
				if _, err := lexical.SearchLexical(b.Context(), s, q, 50); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			report(b, took)
		}
	}
	keywords := func() []string { return words(2 + random.IntN(5)) }
	b.Run("ingest", func(b *testing.B) {
		b.ReportMetric(benchDocuments*benchPassages/took.Seconds(), "passages/s")
	})
	b.Run("lexical/first", search(keywords, chat.Local, nil))
	b.Run("lexical/keywords", search(keywords, chat.Local, nil))
	b.Run("lexical/question", search(question, chat.Local, nil))
	b.Run("lexical/namespace", search(keywords, chat.Local.In(chat.DefaultNamespace), nil))
	d, _, err := db.Documents().List(b.Context(), chat.Local, corpus.Filter{Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("lexical/document", search(keywords, chat.Local, []string{d[0].ID}))
	b.Run("lexical/cold", func(b *testing.B) { // the index changes before every search
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			d := benchPut(b, db.Documents(), fmt.Sprintf("%s %d %d", b.Name(), b.N, i))
			if err := db.Documents().PutContent(b.Context(), d.ID, benchContent(random, d, 1)); err != nil {
				b.Fatal(err)
			}
			q := corpus.LexicalQuery{Words: corpustest.Words(question()...)}
			start := time.Now()
			if _, err := lexical.SearchLexical(b.Context(), chat.Local, q, 50); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		report(b, took)
	})
	b.Run("similar", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			term := words(1)[0]
			term = term[:len(term)/2] + "x" + term[len(term)/2:]
			start := time.Now()
			if _, err := lexical.Similar(b.Context(), chat.Local, term, 3); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		report(b, took)
	})
	b.Run("open", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			start := time.Now()
			again, err := Open(b.Context(), path, slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(start))
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		}
		report(b, took)
	})
}

// BenchmarkVectors measures exact search over 50,000 vectors of 384 dimensions.
func BenchmarkVectors(b *testing.B) {
	vs, random := openNew(b).Vectors("hashing"), rand.New(rand.NewPCG(5, 6))
	unit := func() []float32 {
		v, sum := make([]float32, benchDimension), 0.0
		for i := range v {
			v[i] = float32(random.NormFloat64())
			sum += float64(v[i]) * float64(v[i])
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(sum))
		}
		return v
	}
	for i := 0; i < benchDocuments*benchPassages; i += 1000 {
		var batch []corpus.Vector
		for j := i; j < i+1000; j++ {
			batch = append(batch, corpus.Vector{
				PassageID: fmt.Sprint("p", j), DocumentID: fmt.Sprint("d", j/benchPassages),
				User: chat.LocalUser, Namespace: chat.DefaultNamespace, Values: unit(),
			})
		}
		if err := vs.Upsert(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
	start := time.Now()
	if _, err := vs.SearchVectors(b.Context(), chat.Local, unit(), nil, 10); err != nil {
		b.Fatal(err)
	}
	b.Logf("the first search, which reads the vectors, took %v", time.Since(start))
	var took []time.Duration
	for b.Loop() {
		query := unit()
		start := time.Now()
		if _, err := vs.SearchVectors(b.Context(), chat.Local.In(chat.DefaultNamespace), query, nil, 10); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	report(b, took)
}

// BenchmarkBigDocument measures the delay of small writes while a document of 20,000 passages is stored.
func BenchmarkBigDocument(b *testing.B) {
	db := openNew(b)
	ds, random := db.Documents(), rand.New(rand.NewPCG(7, 8))
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		d := benchPut(b, ds, fmt.Sprint("big ", i))
		c := benchContent(random, d, 20_000)
		done := make(chan error, 1)
		start := time.Now()
		go func() { done <- ds.PutContent(context.Background(), d.ID, c) }()
		for running := true; running; {
			select {
			case err := <-done:
				if err != nil {
					b.Fatal(err)
				}
				running = false
				b.ReportMetric(20_000/time.Since(start).Seconds(), "passages/s")
			default:
				began := time.Now()
				if err := ds.SetSemantic(b.Context(), d.ID, d.SHA256,
					corpus.Semantic(fmt.Sprint(len(took)))); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
		}
	}
	report(b, took)
}

func openConn(t *testing.T, path string) *sql.Conn {
	t.Helper()
	pool, err := openPool(path, 1, "journal_mode(WAL)", busyTimeout)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func TestFailedMigrationKeepsPreviousVersion(t *testing.T) {
	t.Parallel()
	conn, log := openConn(t, filepath.Join(t.TempDir(), "x.db")), slog.New(slog.DiscardHandler)
	good := migrations.Migration{Number: 1, Name: "001_good", Script: `CREATE TABLE a (x); INSERT INTO a VALUES (1)`}
	bad := migrations.Migration{
		Number: 2, Name: "002_bad",
		Script: `INSERT INTO a VALUES (2); CREATE TABLE b (x); SELECT nonsense FROM nowhere`,
	}
	if err := migrateTo(t.Context(), conn, log, []migrations.Migration{good, bad}); err == nil ||
		!strings.Contains(err.Error(), "002_bad") {
		t.Fatalf("migrateTo = %v, want an error that names 002_bad", err)
	}
	mended := migrations.Migration{Number: 2, Name: "002_mended", Script: `CREATE TABLE b (x)`}
	for range 2 { // the second call has nothing to do
		if err := migrateTo(t.Context(), conn, log, []migrations.Migration{good, mended}); err != nil {
			t.Fatalf("migrateTo after mending: %v, want no error", err)
		}
	}
	var rows, version int
	if err := conn.QueryRowContext(
		t.Context(), `SELECT (SELECT count(*) FROM a), max(number) FROM migrations`,
	).Scan(&rows, &version); err != nil {
		t.Fatal(err)
	}
	if rows != 1 || version != 2 {
		t.Errorf("%d rows in version %d, want 1 in version 2", rows, version)
	}
}

func TestConcurrentOpensMigrateOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "footnote.db")
	errs := make([]error, 6)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
			if err == nil {
				err = db.Close()
			}
			errs[i] = err
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		t.Errorf("Open %d: %v, want less than 0", i, errs[i])
	}
}

// TestPreviousVersionDataDirectoryIsMigrated opens a data directory that predates the first migration. Its
// data must be preserved, and contents missing from the index must be indexed.
func TestPreviousVersionDataDirectoryIsMigrated(t *testing.T) {
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
		[]byte{0, 0, 128, 63, 0, 0, 0, 0}) // the vector (1, 0)
	for again := range 2 { // the second call has nothing to do
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

// TestSchemaEqualsMigratedOne compares the schema of a new database with that of a migrated one, and the rows that it
// contains.
func TestSchemaEqualsMigratedOne(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("testdata/version_14.sql")
	if err != nil {
		t.Fatal(err)
	}
	migrated := filepath.Join(t.TempDir(), "migrated.db")
	if _, err := openConn(t, migrated).ExecContext(t.Context(), string(script)); err != nil {
		t.Fatal(err)
	}
	comment, space := regexp.MustCompile(`--.*`), regexp.MustCompile(`\s*([(),]|\s)\s*`)
	read := func(path string) (list []string) {
		err := openAt(t, path).eachRow(t.Context(),
			`SELECT name || ': ' || coalesce(sql, '') FROM sqlite_schema WHERE tbl_name <> 'migrations'
			UNION ALL SELECT concat_ws(' ', n, changes, removals, next_row, vector_changes, vector_removals)
				FROM corpus_state
			ORDER BY 1`, nil, func(row scanner) error {
				var part string
				err := row.Scan(&part)
				list = append(list, space.ReplaceAllString(comment.ReplaceAllString(part, ""), "$1"))
				return err
			})
		if err != nil || len(list) < 100 {
			t.Fatalf("the schema has %d parts, %v; want at least 100", len(list), err)
		}
		return list
	}
	if d := cmp.Diff(read(migrated), read(filepath.Join(t.TempDir(), "new.db"))); d != "" {
		t.Errorf("the schema differs from that after all migrations (-migrated +new):\n%s", d)
	}
}

// nameVectors checks that want vectors have no model, like those of an earlier version, and assigns a model to them.
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
		if e := some[0]; e.Title != "House" || e.Passage.Section != "Attic" || len(e.Values) != 2 {
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

// schemaOf lists the columns, indexes, references and other properties of a database, ignoring the order of columns.
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

func TestEarlyVersionDataDirectoryIsRejected(t *testing.T) {
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
		!strings.Contains(chat.MessageOf(err).String(), want) {
		t.Errorf("Open = %v, want %q", err, want)
	}
	var tables, version int
	if err := conn.QueryRowContext(
		t.Context(), `SELECT count(*), (SELECT max(number) FROM migrations) FROM sqlite_schema WHERE type = 'table'`,
	).Scan(&tables, &version); err != nil || tables != 2 || version != 12 {
		t.Errorf("%d tables of version %d are there, %v; want 2 of version 12", tables, version, err)
	}
}
