package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/riverqueue/river/riverdriver"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/chattest"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/grants/grantstest"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/corpus/sources/placestore/storetest"
	"github.com/footnote/footnote/sql/migrations"
	"github.com/footnote/footnote/sql/postgres/postgrestest"
	"github.com/footnote/footnote/sql/store"
)

// TestPreviousVersionDatabaseIsMigrated opens a database that predates the first migration, on two replicas
// at once. Its data must be preserved, and contents missing from the index must be indexed.
func TestPreviousVersionDatabaseIsMigrated(t *testing.T) {
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

// openVersion8 opens an empty database with schema version 8.
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

// schemaOf lists the columns, indexes, constraints and functions of a database, ignoring the order of columns.
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

func TestEarlyVersionDatabaseIsRejected(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	db := openVersion8(t, url)
	exec(t, db, `UPDATE migrations SET number = 7 WHERE number = 8`)
	_, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if want := "early Footnote (version 7). This one takes over version 8"; err == nil ||
		!strings.Contains(chat.MessageOf(err).String(), want) {
		t.Errorf("Open = %v, want %q", err, want)
	}
	exec(t, db, `SELECT FROM wishes`)
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestConcurrentAddsOnReplicasLoseNothing checks two replicas that concurrently add documents of one user and merge
// their segments. Both must find all documents.
func TestConcurrentAddsOnReplicasLoseNothing(t *testing.T) {
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

func TestConcurrentStartsMigrateOnce(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			db, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Errorf("Open: %v, want no error", err)
				return
			}
			defer db.Close()
			if err := db.Ping(t.Context()); err != nil {
				t.Errorf("Ping: %v, want no error", err)
			}
		})
	}
	wg.Wait()
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	steps, err := migrations.After(all, 0)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := openURL(t, url).queryRow(t.Context(), longTime, `SELECT count(*) FROM migrations`, nil, &n); err != nil ||
		n != len(steps) {
		t.Errorf("%d steps, %v; want %d", n, err, len(steps))
	}
}

func TestFailedMigrationIsRolledBack(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	n := migrations.Newest(all)
	all = append(all, migrations.Migration{Number: n + 1, Name: "good", Script: `CREATE TABLE good (n int)`},
		migrations.Migration{Number: n + 2, Name: "bad", Script: `CREATE TABLE bad (n int); SELECT 1/0`})
	if err := db.migrateTo(t.Context(), all); err == nil || !strings.Contains(err.Error(), "bad") {
		t.Fatalf("migrateTo: %v, want %q in it", err, "bad")
	}
	var left int
	if err := db.queryRow(t.Context(), longTime,
		`SELECT count(*) FROM pg_class WHERE relname IN ('good', 'bad') AND relnamespace = `+
			`current_schema()::regnamespace`, nil, &left); err != nil || left != 0 {
		t.Errorf("%d tables are left, %v; want 0", left, err)
	}
	if err := db.migrateTo(t.Context(), all[:len(all)-1]); err != nil {
		t.Errorf("the good step alone: %v, want no error", err)
	}
}

// server is set by TestMain and only read afterwards.
var server *postgrestest.Server

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m, &server)) }

// openNew opens a database in its own schema and closes it when the test ends.
func openNew(t testing.TB) *DB { return openURL(t, server.Schema(t)) }

func openURL(t testing.TB, url string) *DB {
	t.Helper()
	db, err := Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("Open: %v, want no error", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v, want no error", err)
		}
	})
	return db
}

func TestReplicasShareLimit(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	var replicas [2]*Chats
	for i := range replicas {
		db := openURL(t, url)
		replicas[i] = db.Chats()
		replicas[i].SetLimits(chat.Limits{chat.QuestionsPerMinute: 20, chat.SearchesPerMinute: 30})
	}
	for _, row := range []struct {
		what string
		do   func(c *Chats) error
		want int64
	}{
		{"questions", func(c *Chats) error {
			_, _, err := c.StartRun(t.Context(), "anna", chat.RunRequest{Message: "q"},
				chat.Lease{Owner: "one", Until: time.Now().Add(time.Hour)})
			return err
		}, 20},
		{"searches", func(c *Chats) error { return c.Spend(t.Context(), "anna", chat.ResourceSearches, 1) }, 30},
	} {
		var done atomic.Int64
		var group sync.WaitGroup
		for i := range 50 {
			group.Go(func() {
				err := row.do(replicas[i%2])
				if _, over := errors.AsType[*chat.OverLimit](err); err != nil && !over {
					t.Error(err)
				}
				if err == nil {
					done.Add(1)
				}
			})
		}
		group.Wait()
		if done.Load() != row.want {
			t.Errorf("%d of 50 %s passed at two replicas, want %d", done.Load(), row.what, row.want)
		}
	}
}

// take marks the next job as running, like a replica that crashes immediately afterwards.
func take(t *testing.T, db *DB) {
	t.Helper()
	exec(
		t, db,
		`UPDATE river_job SET state = 'running', attempt = attempt + 1, attempted_at = now(), attempted_by = `+
			`ARRAY['the dead one']`,
	)
}

func TestJobOfDeadReplicaIsTakenOver(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	for _, id := range []string{"dead", "alive"} {
		if err := q.Enqueue(t.Context(), corpus.Job{
			Kind: corpus.JobIngest, DocumentID: id, User: "u", SHA256: "x",
		}); err != nil {
			t.Fatal(err)
		}
	}
	take(t, db)
	exec(t, db, `UPDATE river_job SET attempted_at = now() - interval '21 seconds' WHERE args->>'document' = 'dead'`)
	ctx, cancel := context.WithCancel(t.Context())
	jobs := make(chan corpus.Job, 2)
	var wg sync.WaitGroup
	wg.Go(func() {
		err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
			corpus.JobIngest: {Jobs: 2, Do: func(_ context.Context, job corpus.Job) error {
				jobs <- job
				return nil
			}},
		})
		if err != nil {
			t.Errorf("Work: %v, want no error", err)
		}
	})
	if job := <-jobs; job.DocumentID != "dead" || job.Attempt != 2 {
		t.Errorf("job = %+v, want the dead replica's at its second attempt", job)
	}
	cancel()
	wg.Wait()
	if n, err := q.Waiting(t.Context()); err != nil || n != 1 || len(jobs) > 0 {
		t.Errorf("%d jobs are left, %v; the other replica's lease had not ended; want 1", n, err)
	}
}

func TestJobIsFreshOnlyOnce(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	if err := q.Ensure(t.Context(), corpus.Job{
		Kind: corpus.JobEmbed, DocumentID: "d", User: "u", SHA256: "x", Fresh: true,
	}); err != nil {
		t.Fatal(err)
	}
	var told []bool
	// The job is interrupted twice, which does not count as an attempt. Another replica finally completes it.
	for round := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
			corpus.JobEmbed: {Jobs: 1, Do: func(work context.Context, job corpus.Job) error {
				told = append(told, job.Fresh)
				cancel()
				if round == 2 {
					return nil
				}
				<-work.Done()
				return work.Err()
			}},
		})
		if err != nil {
			t.Fatalf("Work: %v, want no error", err)
		}
	}
	if !slices.Equal(told, []bool{true, false, false}) {
		t.Errorf("the job was called fresh: %v, want the first time only", told)
	}
}

func TestRestoredJobsAreNotFresh(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	if err := q.Ensure(
		t.Context(), corpus.Job{Kind: corpus.JobEmbed, DocumentID: "d", User: "u", SHA256: "x", Fresh: true},
	); err != nil {
		t.Fatal(err)
	}
	exec(
		t, db, `CREATE TABLE copied AS TABLE river_job; TRUNCATE river_job; INSERT INTO river_job SELECT * FROM copied`,
	)
	ctx, cancel := context.WithCancel(t.Context())
	fresh := true
	err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
		corpus.JobEmbed: {Jobs: 1, Do: func(_ context.Context, job corpus.Job) error {
			fresh = job.Fresh
			cancel()
			return nil
		}},
	})
	if err != nil || fresh {
		t.Errorf("fresh of a restored job = %v; %v, want false", fresh, err)
	}
}

func TestDocumentProgressIsNotifiedToReplicas(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	d, _, err := one.Documents().Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: "a", SHA256: "a"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	heard := make(chan string, 8)
	var wg sync.WaitGroup
	wg.Go(func() { two.Listen(ctx, func(string) {}, func(id string) { heard <- id }, func() {}) })
	defer wg.Wait()
	defer cancel()
	if id := <-heard; id != "" {
		t.Fatalf("heard of %q first, want nothing", id)
	}
	if err := one.Documents().SetState(t.Context(), d.ID, "a", corpus.StateParsing, corpus.Progress{Stage: "parsing"},
		nil); err != nil {
		t.Fatal(err)
	}
	if id := <-heard; id != d.ID {
		t.Errorf("heard of %q, want %q", id, d.ID)
	}
}

// TestJobDelayedByWrongClockRuns checks a job that a replica with a fast clock has delayed. Other replicas must
// run it without waiting.
func TestJobDelayedByWrongClockRuns(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	if err := q.Enqueue(t.Context(), corpus.Job{
		Kind: corpus.JobIngest, DocumentID: "d", User: "u", SHA256: "x",
	}); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `UPDATE river_job SET scheduled_at = now() + interval '59 minutes'`)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
			corpus.JobIngest: {Jobs: 1, Do: func(context.Context, corpus.Job) error {
				cancel()
				return nil
			}},
		})
		if err != nil {
			t.Errorf("Work: %v, want no error", err)
		}
	})
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Error("job is still queued")
		cancel()
	}
	wg.Wait()
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	corpustest.TestDocuments(t, func(t *testing.T) corpus.Documents { return openNew(t).Documents() })
}

func TestLexical(t *testing.T) {
	t.Parallel()
	corpustest.TestLexical(t, func(t *testing.T) corpustest.LexicalStores {
		db := openNew(t)
		return corpustest.LexicalStores{Documents: db.Documents(), Lexical: db.Lexical()}
	})
}

func TestQueue(t *testing.T) {
	t.Parallel()
	corpustest.TestQueue(t, func(t *testing.T) (one, two corpus.Queue) {
		url := server.Schema(t)
		return mortal{openURL(t, url).Queue()}, openURL(t, url).Queue()
	})
}

type mortal struct{ *Queue }

// TakeAndDie implements corpustest.Mortal. The leases of the jobs expire one by one, and the rescue of a live
// replica returns them to the queue.
func (q mortal) TakeAndDie(t *testing.T, kind corpus.JobKind, jobs int) {
	t.Helper()
	driver := newTurnDriver(q.db, map[corpus.JobKind]corpus.Worker{kind: {Jobs: jobs}})
	taken, err := driver.GetExecutor().JobGetAvailable(t.Context(), &riverdriver.JobGetAvailableParams{
		Queue: string(kind), MaxToLock: jobs, ClientID: "a replica that dies",
	})
	if err != nil || len(taken.Jobs) != jobs {
		t.Fatalf("take jobs: %+v, %v; want %d", taken, err, jobs)
	}
	for range jobs {
		exec(
			t, q.db,
			`UPDATE river_job SET attempted_at = now() - interval '1 minute' WHERE id = (SELECT min(id) FROM `+
				`river_job WHERE state = 'running')`,
		)
		if n, err := q.rescueJobs(t.Context()); err != nil || n != 1 {
			t.Fatalf("rescue jobs: %d, %v; want 1", n, err)
		}
	}
}

func TestPurgeHidesRunTexts(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	chats, docs := db.Chats(), db.Documents()
	run, _, err := chats.StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q"},
		chat.Lease{Owner: "server"})
	if err != nil {
		t.Fatal(err)
	}
	put := func(namespace string) corpus.Document {
		d, _, err := docs.Put(t.Context(), corpus.Document{
			ID: chat.NewID(), User: chat.LocalUser, Namespace: namespace, Path: "p.html", Filename: "p.html",
			Title: "p", SHA256: "ff", State: corpus.StateReady,
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	mine, other := put(chat.WebNamespace(run.ID)), put(chat.WebNamespace("another"))
	if err := chats.DeleteSession(t.Context(), chat.Local, run.SessionID); err != nil {
		t.Fatal(err)
	}
	if n, err := chats.Purge(t.Context(), time.Now().Add(time.Minute), time.Time{}); n != 1 || err != nil {
		t.Fatalf("Purge = %d, %v; want 1", n, err)
	}
	if err := docs.Purge(t.Context(), time.Now().Add(time.Minute)); err != nil {
		t.Fatalf("Purge: %v, want no error", err)
	}
	gone, err := docs.Removals(t.Context(), time.Now())
	if err != nil || len(gone) != 1 || gone[0].DocumentID != mine.ID {
		t.Errorf("removed %+v, %v; want %s and not %s", gone, err, mine.ID, other.ID)
	}
}

func TestChats(t *testing.T) {
	t.Parallel()
	chattest.TestStore(t, func(t *testing.T) chat.Store { return openNew(t).Chats() })
}

func TestFeed(t *testing.T) {
	t.Parallel()
	chattest.TestFeed(t, func(t *testing.T) chat.Store { return openNew(t).Chats() })
}

func TestDamagedRunDoesNotHideOthers(t *testing.T) {
	t.Parallel()
	chattest.TestDamaged(t, func(t *testing.T) (store chat.Store, breakText, removeText chattest.Spoil) {
		db := openNew(t)
		spoil := func(statement string) chattest.Spoil {
			return func(runID string) {
				if _, err := db.execStatement(t.Context(), longTime,
					statement+` WHERE run = (SELECT n FROM runs WHERE id = $1)`,
					runID); err != nil {
					t.Fatal(err)
				}
			}
		}
		return db.Chats(), spoil(`UPDATE run_texts SET request = '{broken'`), spoil(`DELETE FROM run_texts`)
	})
}

func TestPurgeDeletesOldKeys(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	chats, req := db.Chats(), chat.RunRequest{Message: "q", IdempotencyKey: "key"}
	start := func() (fresh bool) {
		_, fresh, err := chats.StartRun(t.Context(), chat.LocalUser, req, chat.Lease{Owner: "server"})
		if err != nil {
			t.Fatalf("StartRun: %v, want no error", err)
		}
		if _, err := chats.Purge(t.Context(), time.Time{}, time.Time{}); err != nil {
			t.Fatalf("Purge: %v, want no error", err)
		}
		return fresh
	}
	if start(); start() {
		t.Error("key of today was deleted")
	}
	if _, err := db.execStatement(t.Context(), longTime,
		`UPDATE idempotency_keys SET created_at = created_at - $1::bigint`,
		(store.KeyLifetime + time.Minute).Microseconds()); err != nil {
		t.Fatal(err)
	}
	start() // still finds the key, then purges it
	if !start() {
		t.Error("key of yesterday is still stored")
	}
}

func TestGrants(t *testing.T) {
	grantstest.TestStore(t, func(t *testing.T) grants.Store { return openNew(t).Grants() })
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	storetest.Test(t, func(t *testing.T) placestore.Store { return openNew(t).Places() })
}
