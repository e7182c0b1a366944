package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/chattest"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/sql/migrations"
)

func TestDatabaseOutageIsUnavailableAndRecovers(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct{ begin, end func(*relay) }{
		"refused": {(*relay).shut, (*relay).open},
		"silent":  {(*relay).stall, (*relay).resume},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRelay(t, server.Schema(t))
			db := openURL(t, r.url)
			run := startRunOn(t, db)
			fault.begin(r)
			for what, call := range map[string]func() error{
				"StartRun": func() error {
					_, _, err := db.Chats().StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q"},
						chat.Lease{Owner: "server"})
					return err
				},
				"Run": func() error { _, err := db.Chats().Run(t.Context(), chat.Local, run.ID); return err },
				"List": func() error {
					_, _, err := db.Documents().List(t.Context(), chat.Local, corpus.Filter{})
					return err
				},
				"Ping": func() error { return db.Ping(t.Context()) },
			} {
				start := time.Now()
				if err := call(); err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
					t.Errorf("%s: %v, want %s", what, err, chat.CodeUnavailable)
				}
				t.Logf("%s failed after %v", what, time.Since(start))
			}
			fault.end(r)
			mustAppend(t, db, run.ID, chat.AnswerDelta{Text: "a"})
			if got, err := db.Chats().Run(t.Context(), chat.Local, run.ID); err != nil ||
				got.Status != chat.RunRunning {
				t.Errorf("Run = %+v, %v; want Status %v", got, err, chat.RunRunning)
			}
		})
	}
}

func TestAppendWaitsForReconnect(t *testing.T) {
	t.Parallel()
	r := newRelay(t, server.Schema(t))
	db := openURL(t, r.url)
	run := startRunOn(t, db)
	r.shut()
	done := make(chan error, 1)
	go func() {
		_, err := db.Chats().Append(t.Context(), "server", run.ID, chat.AnswerDelta{Text: "a"})
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("Append did not wait: %v", err)
	case <-time.After(50 * time.Millisecond): // Append can only succeed after r.open
	}
	r.open()
	if err := <-done; err != nil {
		t.Errorf("Append: %v, want no error", err)
	}
	if events, err := db.Chats().Events(t.Context(), chat.Local, run.ID, 0, 0); err != nil || len(events) != 1 {
		t.Errorf("%d events, %v; want one", len(events), err)
	}
}

func TestClosedConnectionIsReplacedByPool(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	run := startRunOn(t, db)
	for range 5 {
		server.Exec(
			t,
			fmt.Sprintf(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'footnote' `+
				`AND query LIKE '%%%s%%'`, mark(t, db)),
		)
		mustAppend(t, db, run.ID, chat.AnswerDelta{Text: "a"})
	}
	if events, err := db.Chats().Events(t.Context(), chat.Local, run.ID, 0, 0); err != nil || len(events) != 5 {
		t.Errorf("%d events, %v; want 5", len(events), err)
	}
}

// mark executes a unique statement on every idle connection of db, so that the connections can be identified by it.
func mark(t *testing.T, db *DB) string {
	t.Helper()
	name := "mark " + chat.NewID()
	for _, c := range db.pool.AcquireAllIdle(t.Context()) {
		if _, err := c.Exec(t.Context(), `SELECT '`+name+`'`); err != nil {
			t.Error(err)
		}
		c.Release()
	}
	return name
}

func TestFullDiskIsReportedAndRecovers(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	run := startRunOn(t, db)
	mustAppend(t, db, run.ID, chat.AnswerDelta{Text: "a"})
	exec(
		t, db,
		`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space' USING ERRCODE = `+
			`'disk_full'; END $$`,
	)
	for _, table := range []string{"events", "runs", "documents"} {
		exec(t, db, `CREATE TRIGGER full_disk BEFORE INSERT ON `+table+` FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	}
	_, err := db.Chats().Append(t.Context(), "server", run.ID, chat.AnswerDelta{Text: "b"},
		chat.RunDone{Status: chat.RunCompleted})
	wantFull(t, "Append", err)
	_, _, err = db.Chats().StartRun(t.Context(), chat.LocalUser, chat.RunRequest{SessionID: "s", Message: "q"},
		chat.Lease{Owner: "server"})
	wantFull(t, "StartRun", err)
	_, _, err = db.Documents().Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: "a", SHA256: "a"})
	wantFull(t, "Put", err)
	if events, err := db.Chats().Events(t.Context(), chat.Local, run.ID, 0, 0); err != nil || len(events) != 1 {
		t.Errorf("%d events, %v; reads go on, and only one was stored; want 1 event", len(events), err)
	}
	if _, err := db.Chats().Session(t.Context(), chat.Local, "s"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a session of a run that failed to start: %v, want %v", err, chat.CodeNotFound)
	}
	exec(t, db, `DROP FUNCTION full_disk CASCADE`)
	mustAppend(t, db, run.ID, chat.RunDone{Status: chat.RunCompleted})
}

func wantFull(t *testing.T, what string, err error) {
	t.Helper()
	if err == nil || chat.CodeOf(err) != chat.CodeDiskFull {
		t.Errorf("%s: %v, want %s", what, err, chat.CodeDiskFull)
	}
}

func exec(t *testing.T, db *DB, statement string) {
	t.Helper()
	if _, err := db.execStatement(t.Context(), longTime, statement); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersAndRunEndsAreDurable(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	run := startRunOn(t, db)
	for _, p := range []chat.Payload{
		chat.Answer{Markdown: strings.Repeat("a", 1000)}, chat.RunDone{Status: chat.RunCompleted},
	} {
		var before string
		if err := db.queryRow(t.Context(), longTime, `SELECT pg_current_wal_insert_lsn()::text`, nil,
			&before); err != nil {
			t.Fatal(err)
		}
		mustAppend(t, db, run.ID, p)
		var flushed bool
		if err := db.queryRow(t.Context(), longTime, `SELECT pg_current_wal_flush_lsn() > $1::pg_lsn`, []any{before},
			&flushed); err != nil || !flushed {
			t.Errorf("%s: durable %v, %v", p.Kind(), flushed, err)
		}
	}
}

func TestUnsupportedTextIsSanitized(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	const bad = "a\x00b\xffc"
	run, _, err := db.Chats().StartRun(t.Context(), bad, chat.RunRequest{Message: bad, IdempotencyKey: bad},
		chat.Lease{Owner: bad, Until: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	s := chat.Scope{User: bad}
	if _, err := db.Chats().Append(t.Context(), bad, run.ID,
		chat.Step{CallID: bad, Message: bad, Truncated: true, Full: []byte(`{}`)},
		chat.Answer{Markdown: bad}); err != nil {
		t.Errorf("Append: %v, want no error", err)
	}
	if got, err := db.Chats().Run(t.Context(), s, run.ID); err != nil || got.Answer != bad {
		t.Errorf("Run = %+v, %v; want Answer %v", got, err, bad)
	}
	if sessions, _, err := db.Chats().Sessions(t.Context(), s, chat.SessionQuery{Text: bad}); err != nil ||
		len(sessions) != 1 {
		t.Errorf("Sessions = %v, %v; want 1 session", sessions, err)
	}
	_, err = db.Chats().Run(t.Context(), s, bad)
	if chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("Run of a bad id: %v, want %v", err, chat.CodeNotFound)
	}
	ds := db.Documents()
	d, _, err := ds.Put(t.Context(), corpus.Document{
		User: bad, Path: bad, SHA256: bad, Meta: map[string]any{bad: []any{bad, map[string]any{"n": 1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = ds.PutContent(t.Context(), d.ID, corpus.Content{
		SHA256: d.SHA256, Extracted: corpus.Extracted{Title: bad, Text: bad, Blocks: []corpus.Block{{ID: bad}}},
		Passages: []corpus.Passage{{ID: bad, Text: bad, Section: bad}},
		Terms:    []corpus.Terms{{Title: bad, Body: "roof " + bad}},
	})
	if err != nil {
		t.Errorf("PutContent: %v, want no error", err)
	}
	if hits, err := db.Lexical().SearchLexical(t.Context(), s,
		corpus.LexicalQuery{Words: corpustest.Words("roof", bad), Phrases: [][]string{{"roof"}}}, 5); err != nil ||
		len(hits) != 1 {
		t.Errorf("SearchLexical = %v, %v; want 1 hit", hits, err)
	}
	if list, _, err := ds.List(t.Context(), s, corpus.Filter{
		Text: bad, Meta: map[string]any{bad: []any{bad, map[string]any{"n": 1}}},
	}); err != nil || len(list) != 1 {
		t.Errorf("List = %v, %v; want 1", list, err)
	}
}

func TestFailedPutContentKeepsOldVersion(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]string{
		"the first": `BEFORE INSERT ON contents`, "the words": `BEFORE INSERT ON content_words`,
		"the last passage": `BEFORE INSERT ON passages FOR EACH ROW WHEN (NEW.ordinal = 99)`,
		"the index":        `BEFORE INSERT ON segment_pages`, "the segment": `BEFORE INSERT ON segments`,
		"the segment shown": `BEFORE UPDATE OF live ON segments`, "removing the old": `BEFORE DELETE ON passages`,
		"the switch": `BEFORE UPDATE OF content ON documents`,
		"the count":  `BEFORE UPDATE OF changes ON corpus_state`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openNew(t)
			ds, lexical := db.Documents(), db.Lexical()
			put := func(version string, n int) error {
				d, _, err := ds.Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: "a.md", SHA256: version})
				if err != nil {
					t.Fatal(err)
				}
				c := corpus.Content{
					SHA256: version, Extracted: corpus.Extracted{
						Text: version, Blocks: []corpus.Block{
							{Words: corpus.PackWords([]corpus.WordBox{{End: 1, Box: chat.Box{1}}})},
						},
					},
				}
				for i := range n {
					c.Passages = append(c.Passages, corpus.Passage{ID: fmt.Sprint(version, i), Text: version})
					c.Terms = append(c.Terms, corpus.Terms{Body: fmt.Sprintf("%s %s%d", version, version, i)})
				}
				return ds.PutContent(t.Context(), d.ID, c)
			}
			check := func(version string, n int) {
				t.Helper()
				for _, word := range []string{"old", "new"} {
					want := 0
					if word == version {
						want = n
					}
					if hits, err := lexical.SearchLexical(t.Context(), chat.Local,
						corpus.LexicalQuery{Words: corpustest.Words(word)}, 1000); err != nil || len(hits) != want {
						t.Errorf("%q is found in %d passages, %v; want %d", word, len(hits), err, want)
					}
				}
				var passages, contents, unseen int
				if err := db.queryRow(t.Context(), longTime,
					`SELECT (SELECT count(*) FROM passages), (SELECT count(*) FROM contents), (SELECT count(*) FROM `+
						`segments WHERE NOT live)`,
					nil, &passages, &contents, &unseen); err != nil || passages != n || contents != 1 || unseen != 0 {
					t.Errorf("%d passages, %d contents, %d unseen segments, %v; want %d, 1 and 0", passages, contents,
						unseen, err, n)
				}
			}
			if err := put("old", 50); err != nil {
				t.Fatal(err)
			}
			check("old", 50)
			if !strings.Contains(write, "FOR EACH") {
				write += ` FOR EACH ROW`
			}
			exec(t, db, `CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'broken'; END $$`)
			exec(t, db, `CREATE TRIGGER broken `+write+` EXECUTE FUNCTION broken()`)
			if err := put("new", 100); err == nil || !strings.Contains(err.Error(), "broken") {
				t.Fatalf("PutContent: %v, want %q in it", err, "broken")
			}
			check("old", 50)
			exec(t, db, `DROP FUNCTION broken CASCADE`)
			if err := put("new", 100); err != nil {
				t.Fatalf("PutContent, mended: %v, want no error", err)
			}
			check("new", 100)
		})
	}
}

func TestClosedDatabaseIsUnavailable(t *testing.T) {
	t.Parallel()
	db, err := Open(t.Context(), server.Schema(t), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("after Close: %v, want %s", err, chat.CodeUnavailable)
	}
}

// TestAppendDetectsTruncatedLog checks appends to a log that a crash of PostgreSQL has
// truncated. A process that remembers the lost events must not append after them.
func TestAppendDetectsTruncatedLog(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	run := startRunOn(t, db)
	mustAppend(t, db, run.ID, chat.AnswerDelta{Text: "a"})
	mustAppend(t, db, run.ID, chat.AnswerDelta{Text: "b"}, chat.AnswerDelta{Text: "c"})
	exec(t, db, fmt.Sprintf(`DELETE FROM events WHERE seq > 1 AND run = (SELECT n FROM runs WHERE id = '%s')`, run.ID))
	exec(t, db, fmt.Sprintf(`UPDATE runs SET last = 1 WHERE id = '%s'`, run.ID))
	for _, p := range []chat.Payload{chat.AnswerDelta{Text: "d"}, chat.RunDone{Status: chat.RunCompleted}} {
		_, err := db.Chats().Append(t.Context(), "server", run.ID, p)
		if chat.CodeOf(err) != chat.CodeConflict {
			t.Errorf("%T: %v, want %s", p, err, chat.CodeConflict)
		}
		db.tails.Store(run.ID, int64(3)) // restores the remembered tail
	}
	runs, err := db.Chats().TakeOver(t.Context(), chat.Lease{Owner: "next", Until: time.Now().Add(time.Minute)},
		time.Now().Add(time.Hour))
	if err != nil || len(runs) != 1 {
		t.Fatalf("TakeOver = %v, %v; want 1 run", runs, err)
	}
	if _, err := db.Chats().Append(t.Context(), "next", run.ID, chat.RunDone{Status: chat.RunCompleted}); err != nil {
		t.Errorf("who takes it over can't end it: %v, want no error", err)
	}
}

// relay is a proxy between a DB and the server's socket. Shutting it breaks every connection and refuses new ones.
// Stalling it accepts bytes without forwarding them.
type relay struct {
	t      *testing.T
	url    string // connects through the relay
	socket string
	target string

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	stalled  chan struct{} // closed when the relay may forward bytes; nil if it is not stalled
	wg       sync.WaitGroup
}

func newRelay(t *testing.T, through string) *relay {
	t.Helper()
	u, err := url.Parse(through)
	if err != nil {
		t.Fatal(err)
	}
	dir := u.Query().Get("host")
	if !strings.HasPrefix(dir, "/") {
		t.Skip("the server to test with is not reached by a socket")
	}
	r := &relay{t: t, target: filepath.Join(dir, ".s.PGSQL.5432"), conns: make(map[net.Conn]bool)}
	own := t.TempDir()
	r.socket = filepath.Join(own, ".s.PGSQL.5432")
	query := u.Query()
	query.Set("host", own)
	u.RawQuery = query.Encode()
	r.url = u.String()
	r.open()
	t.Cleanup(func() { r.resume(); r.shut(); r.wg.Wait() })
	return r
}

func (r *relay) open() {
	r.t.Helper()
	listener, err := net.Listen("unix", r.socket)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.listener = listener
	r.mu.Unlock()
	r.wg.Go(func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", r.target)
			if err != nil {
				_ = from.Close()
				continue
			}
			r.mu.Lock()
			r.conns[from], r.conns[to] = true, true
			r.mu.Unlock()
			r.wg.Go(func() { r.pass(to, from) })
			r.wg.Go(func() { r.pass(from, to) })
		}
	})
}

func (r *relay) pass(to, from net.Conn) {
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		r.mu.Lock()
		stalled := r.stalled
		r.mu.Unlock()
		if stalled != nil {
			<-stalled
		}
		if _, writeErr := to.Write(buf[:n]); err != nil || writeErr != nil {
			if !errors.Is(err, io.EOF) {
				_ = from.Close()
			}
			return
		}
	}
}

func (r *relay) shut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.listener.Close()
	for c := range r.conns {
		_ = c.Close()
	}
	clear(r.conns)
}

func (r *relay) stall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stalled = make(chan struct{})
}

func (r *relay) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stalled != nil {
		close(r.stalled)
		r.stalled = nil
	}
}

// breaking matches statements that are incompatible with an older program still running against the same database.
// They remove an object, or require a value that the older program does not write.
var breaking = regexp.MustCompile(
	`(?is)\bDROP\s+(TABLE|COLUMN|FUNCTION|SCHEMA|VIEW)\b|\bRENAME\b|\bALTER\s+COLUMN\s+\w+\s+(SET\s+DATA\s+)?TYPE\b|` +
		`\bSET\s+NOT\s+NULL\b|\bTRUNCATE\b`,
)

var (
	added       = regexp.MustCompile(`(?is)\bADD\s+(COLUMN\s+)?(IF\s+NOT\s+EXISTS\s+)?\w+\s+[^;,]*?NOT\s+NULL[^;,]*`)
	withDefault = regexp.MustCompile(`(?i)\bDEFAULT\b|\bGENERATED\b`)
	comments    = regexp.MustCompile(`(?m)--.*$`)
)

// breaks returns the part of a migration that is incompatible with older programs, or "" if there is none.
func breaks(script string) string {
	script = comments.ReplaceAllString(script, "")
	if found := breaking.FindString(script); found != "" {
		return found
	}
	for _, column := range added.FindAllString(script, -1) {
		if !withDefault.MatchString(column) {
			return column
		}
	}
	return ""
}

func TestMigrationsAreBackwardCompatible(t *testing.T) {
	t.Parallel()
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range all {
		least := leastProgram(step.Script)
		if found := breaks(step.Script); found != "" && least < step.Number {
			t.Errorf(`%s has %q, which breaks older programs: add a line "-- min_compatible: %d" or change it`,
				step.Name, found, step.Number)
		}
		if least > step.Number {
			t.Errorf("%s asks for version %d, which is not there yet, want at most %d", step.Name, least, step.Number)
		}
	}
	for script, broken := range map[string]bool{
		"CREATE TABLE a (n int NOT NULL)":                                  false,
		"ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT ''":              false,
		"-- it does not DROP TABLE a\nCREATE INDEX c ON a (b)":             false,
		"ALTER TABLE a ADD COLUMN b text":                                  false,
		"ALTER TABLE a ADD COLUMN b text NOT NULL":                         true,
		"alter table a drop column b":                                      true,
		"ALTER TABLE a RENAME TO b":                                        true,
		"ALTER TABLE a ALTER COLUMN b TYPE bigint":                         true,
		"ALTER TABLE a ALTER b SET NOT NULL":                               true,
		"CREATE TABLE x (n int);\n DROP\n TABLE a; SELECT 1":               true,
		"ALTER TABLE a ADD COLUMN IF NOT EXISTS b int NOT NULL, ADD c int": true,
	} {
		if (breaks(script) != "") != broken {
			t.Errorf("breaks(%q) = %q", script, breaks(script))
		}
	}
}

func TestOlderProgramAcceptsCompatibleSchema(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	newer := openURL(t, url)
	all, err := migrations.Read(migrationFiles, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	n := migrations.Newest(all)
	future := append(all, migrations.Migration{
		Number: n + 1, Name: "additive", Script: `CREATE TABLE of_the_future (n int);
		ALTER TABLE sessions ADD COLUMN of_the_future text NOT NULL DEFAULT 'x'; ALTER TABLE documents ADD COLUMN ` +
			`of_the_future int`,
	})
	if err := newer.migrateTo(t.Context(), future); err != nil {
		t.Fatal(err)
	}
	t.Run("an additive step", func(t *testing.T) { // runs the full contract with code that does not know the step
		chattest.TestStore(t, func(t *testing.T) chat.Store {
			url := server.Schema(t)
			db := openURL(t, url)
			if err := db.migrateTo(t.Context(), future); err != nil {
				t.Fatal(err)
			}
			return openURL(t, url).Chats()
		})
	})
	openURL(t, url)
	exec(t, newer, `INSERT INTO migrations (number, name, min_compatible) VALUES (4711, 'far future', 4700)`)
	_, err = Open(t.Context(), url, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(chat.MessageOf(err).String(), "needs at least version 4700") {
		t.Errorf("Open = %v, want a sentence that names version 4700", err)
	}
}

// contender competes for leadership. It signals on now when it becomes the leader, and on over when it loses
// leadership.
func contender(t *testing.T, db *DB, name string) (now, over <-chan struct{}, stop func()) {
	t.Helper()
	began, ended := make(chan struct{}, 10), make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		db.RunExclusively(ctx, name, func(ctx context.Context) {
			began <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
		})
	})
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	return began, ended, stop
}

func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("never %s", what)
	}
}

func TestExclusiveWorkRunsInOneProcess(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	atOne, overAtOne, _ := contender(t, one, "a folder")
	wait(t, atOne, "does the first work")
	atTwo, _, stopTwo := contender(t, two, "a folder")
	other, _, _ := contender(t, two, "another folder")
	wait(t, other, "is another name's work done")
	if len(atTwo) > 0 {
		t.Error("two work at once, want one")
	}
	if _, err := two.pool.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_locks
		JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND granted AND state = 'idle'
		AND query LIKE '%advisory%' AND datname = current_database() AND pid <> pg_backend_pid() AND objid = (
			hashtextextended(current_schema() || ' alone a folder', 0) & 4294967295)::oid`); err != nil {
		t.Fatal(err)
	}
	wait(t, overAtOne, "ends the first when its connection breaks")
	wait(t, atTwo, "does the second work")
	stopTwo()
	wait(t, atOne, "does the first work again")
}

// TestDurableEventsWaitForDisk checks which events wait for the disk. A crash of PostgreSQL may lose the
// last half second of writes, but never an event that must not be repeated.
func TestDurableEventsWaitForDisk(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what    string
		payload chat.Payload
		waits   bool
	}{
		{"a call that acts begins", chat.Step{CallID: "a", Status: chat.StatusRunning, Acts: true}, true},
		{"a call that acts ends", chat.Step{CallID: "a", Status: chat.StatusComplete, Acts: true}, false},
		{"a call that reads begins", chat.Step{CallID: "b", Status: chat.StatusRunning}, false},
		{"a piece of the answer", chat.AnswerDelta{Text: "a"}, false},
		{"the answer", chat.Answer{Markdown: "a"}, true},
		{"the end", chat.RunDone{Status: chat.RunCompleted}, true},
	} {
		var l logged
		l.addPayload(row.payload, chat.Event{})
		if l.isDurable() != row.waits {
			t.Errorf("%s: waits for the disk: %v, want %v", row.what, l.isDurable(), row.waits)
		}
	}
}
