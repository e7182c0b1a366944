package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
	"github.com/footnote/footnote/sql/store"
)

// together appends one event to each run concurrently, in as few groups as possible. It returns the error of each
// append.
func together(t *testing.T, db *DB, owner string, runIDs []string) []error {
	t.Helper()
	db.group.waitIdle(db)
	db.group.mu.Lock()
	db.group.busy = true // holds the group until all appends are queued
	db.group.mu.Unlock()
	errs := make([]error, len(runIDs))
	var wg sync.WaitGroup
	for i, id := range runIDs {
		wg.Go(func() {
			_, errs[i] = db.Chats().Append(t.Context(), owner, id, chat.AnswerDelta{Text: fmt.Sprint("delta ", i)},
				chat.AnswerDelta{Text: "more"})
		})
	}
	for waiting := 0; waiting < len(runIDs); runtime.Gosched() {
		db.group.mu.Lock()
		waiting = len(db.group.waiting)
		db.group.mu.Unlock()
	}
	db.group.mu.Lock()
	db.group.busy = false
	db.group.startWork(db)
	db.group.mu.Unlock()
	wg.Wait()
	return errs
}

func startRuns(t *testing.T, db *DB, n int) (ids []string) {
	for range n {
		ids = append(ids, startRunOn(t, db).ID)
	}
	return ids
}

func lastOf(t *testing.T, db *DB, runID string) (last, stored int) {
	t.Helper()
	err := db.queryRow(
		t.Context(), longTime, `SELECT last, (SELECT count(*) FROM events WHERE run = runs.n) FROM runs WHERE id = $1`,
		[]any{runID}, &last, &stored,
	)
	if err != nil {
		t.Fatal(err)
	}
	return last, stored
}

func TestAppendsToManyRunsShareStatement(t *testing.T) {
	t.Parallel()
	count := &tally{}
	url := server.Schema(t)
	db, err := openTraced(t.Context(), url, slog.New(slog.DiscardHandler), count)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	heard := listening(t, openURL(t, url))
	ids := startRuns(t, db, 2*maxGroup)
	for round := range 3 {
		count.n.Store(0)
		for i, err := range together(t, db, "server", ids) {
			if err != nil {
				t.Fatalf("append to run %d: %v, want no error", i, err)
			}
		}
		if n := count.n.Load(); n != 2 {
			t.Errorf("%d statements for %d appends, want 2", n, len(ids))
		}
		told := make(map[string]bool)
		for range ids {
			told[<-heard] = true
		}
		for i, id := range ids {
			events, err := db.Chats().Events(t.Context(), chat.Local, id, int64(2*round), 0)
			if err != nil || len(events) != 2 || events[0].Seq != int64(2*round+1) ||
				string(events[0].Body) != fmt.Sprintf(`{"text":"delta %d"}`, i) ||
				events[1].Seq != int64(2*round+2) || events[1].At.IsZero() || !told[id] {
				t.Fatalf("run %d has %+v, %v; notified up to %v; want 2 events, %v, %v",
					i, events, err, told[id], int64(2*round+1), int64(2*round+2))
			}
		}
	}
}

func TestBatchIsNotifiedInOneMessage(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	conn, err := pgx.ConnectConfig(t.Context(), db.pool.Config().ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), `LISTEN `+pgx.Identifier{db.channel}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	ids := startRuns(t, db, maxGroup)
	if err := errors.Join(together(t, db, "server", ids)...); err != nil {
		t.Fatal(err)
	}
	message, err := conn.WaitForNotification(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := strings.Fields(message.Payload)
	slices.Sort(ids)
	if slices.Sort(told[1:]); told[0] != db.instance || !slices.Equal(told[1:], ids) {
		t.Errorf("first message = %q", message.Payload)
	}
}

func TestLargeBatchOfEndsIsNotified(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	db := openURL(t, url)
	heard := listening(t, openURL(t, url))
	want := make(map[string]bool)
	for range 1000 {
		id := chat.NewID()
		want[id] = true
		db.queueEndNotice(id)
	}
	if err := db.Close(); err != nil { // sends the outstanding notifications
		t.Fatal(err)
	}
	for len(want) > 0 {
		select {
		case id := <-heard:
			delete(want, id)
		case <-time.After(patience):
			t.Fatalf("got no notification of %d ends", len(want))
		}
	}
}

func TestAppendsToOneRunAreBatchedSequentially(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	id := startRunOn(t, db).ID
	for i, err := range together(t, db, "server", []string{id, id, id}) {
		if err != nil {
			t.Errorf("append %d: %v, want no error", i, err)
		}
	}
	if last, stored := lastOf(t, db, id); last != 6 || stored != 6 {
		t.Errorf("the log has %d events, its last number is %d; want 6", stored, last)
	}
}

func TestBatchSkipsLockedRun(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ids := startRuns(t, db, 3)
	held, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		err := db.inTx(t.Context(), longTime, func(tx *tx) error {
			_, err := tx.Exec(`SELECT FROM runs WHERE id = $1 FOR UPDATE`, ids[0])
			close(held)
			<-release
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	<-held
	done := make(chan []error)
	go func() { done <- together(t, db, "server", ids) }()
	for _, id := range ids[1:] { // they are stored while the first is held
		for last := 0; last != 2; last, _ = lastOf(t, db, id) {
			runtime.Gosched()
		}
	}
	close(release)
	for i, err := range <-done {
		if err != nil {
			t.Errorf("append to run %d: %v, want no error", i, err)
		}
	}
	wg.Wait()
	if last, stored := lastOf(t, db, ids[0]); last != 2 || stored != 2 {
		t.Errorf("the run that was held has %d events, its last number is %d; want 2", stored, last)
	}
}

func TestBatchErrorsAreIsolatedPerRun(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	ids := startRuns(t, db, 4)
	if _, err := db.Chats().Append(t.Context(), "server", ids[0], chat.RunDone{Status: chat.RunCompleted}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.execStatement(t.Context(), longTime, `UPDATE runs SET owner = 'other' WHERE id = $1`,
		ids[1]); err != nil {
		t.Fatal(err)
	}
	check := func(what string, want [5]chat.Code) {
		t.Helper()
		for i, err := range together(t, db, "server", append(ids, chat.NewID())) {
			var got chat.Code
			if err != nil {
				got = chat.CodeOf(err)
			}
			if got != want[i] {
				t.Errorf("%s: append to run %d: %v, want code %q", what, i, err, want[i])
			}
		}
	}
	check("refused", [5]chat.Code{chat.CodeConflict, chat.CodeConflict, "", "", chat.CodeNotFound})
	for _, statement := range []string{
		`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space' USING ERRCODE = ` +
			`'53100'; END $$`,
		`CREATE TRIGGER refuse BEFORE INSERT ON events FOR EACH ROW WHEN (convert_from(NEW.body, 'UTF8') LIKE ` +
			`'%delta 2%') EXECUTE FUNCTION refuse()`,
	} {
		if _, err := db.execStatement(t.Context(), longTime, statement); err != nil {
			t.Fatal(err)
		}
	}
	check("failed", [5]chat.Code{chat.CodeConflict, chat.CodeConflict, chat.CodeDiskFull, "", chat.CodeNotFound})
	for i, want := range []int{1, 0, 2, 4} {
		if last, stored := lastOf(t, db, ids[i]); last != want || stored != want {
			t.Errorf("run %d has %d events, its last number is %d; want %d", i, stored, last, want)
		}
	}
}

// patience is the timeout for operations that may be slow on a busy machine. No test asserts anything about it.
const patience = 2 * time.Minute

// listening starts Listen and returns a channel of the notifications received. It returns once Listen is connected.
func listening(t *testing.T, db *DB) <-chan string {
	t.Helper()
	heard := make(chan string, 1000)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		db.Listen(ctx, func(runID string) { heard <- runID }, func(string) {}, func() { heard <- store.ToLook })
	})
	t.Cleanup(func() { stop(); wg.Wait() })
	hear(t, heard, "")
	hear(t, heard, store.ToLook)
	return heard
}

// hear waits for the notification want and fails the test on any other.
func hear(t *testing.T, heard <-chan string, want string) {
	t.Helper()
	select {
	case got := <-heard:
		if got != want {
			t.Errorf("heard of %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("got no notification of %q", want)
	}
}

func startRunOn(t testing.TB, db *DB) chat.Run {
	t.Helper()
	run, _, err := db.Chats().StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q"},
		chat.Lease{Owner: "server", Until: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func mustAppend(t testing.TB, db *DB, runID string, payloads ...chat.Payload) {
	t.Helper()
	if _, err := db.Chats().Append(t.Context(), "server", runID, payloads...); err != nil {
		t.Fatal(err)
	}
}

func TestAppendNotifiesOnlyOtherReplicas(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	elsewhere := openNew(t) // another installation on the same server
	atOne, atTwo, nowhere := listening(t, one), listening(t, two), listening(t, elsewhere)
	mine, theirs := startRunOn(t, one), startRunOn(t, two)
	mustAppend(t, one, mine.ID, chat.AnswerDelta{Text: "a"})
	hear(t, atTwo, mine.ID)
	mustAppend(t, one, mine.ID, chat.Step{CallID: "c", Truncated: true, Full: []byte(`{}`)})
	hear(t, atTwo, mine.ID)
	mustAppend(t, one, mine.ID, chat.Answer{Markdown: "a"}, chat.RunDone{Status: chat.RunCompleted})
	hear(t, atTwo, mine.ID)
	mustAppend(t, two, theirs.ID, chat.AnswerDelta{Text: "b"})
	hear(t, atOne, theirs.ID) // and no notification of its own before it
	if len(nowhere) > 0 {
		t.Errorf("other schema was notified of %q", <-nowhere)
	}
}

func TestShownBranchIsNotifiedToReplicas(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	atOne, atTwo := listening(t, one), listening(t, two)
	user := chat.Scope{User: chat.LocalUser}
	first := startRunOn(t, one)
	for _, moved := range []func() error{
		func() error { return one.Chats().SetHead(t.Context(), user, first.SessionID, first.ID) },
		func() error { return two.Chats().SetHead(t.Context(), user, first.SessionID, first.ID) },
	} {
		if err := moved(); err != nil {
			t.Fatal(err)
		}
	}
	hear(t, atTwo, store.HeadMoved)
	hear(t, atOne, store.HeadMoved) // from the other instance only
	if err := one.Chats().SetHead(t.Context(), user, first.SessionID, "nobody"); err == nil {
		t.Error("SetHead to an unknown run: got no error, want one")
	}
	mustAppend(t, one, first.ID, chat.AnswerDelta{Text: "a"})
	hear(t, atTwo, first.ID) // so the failed change sent no notification

	feed := chat.NewFeed(two.Chats())
	wake, stop := feed.WatchSession(chat.LocalUser, first.SessionID)
	defer stop()
	news := wake()
	feed.Wake(store.HeadMoved)
	select {
	case <-news:
	case <-time.After(patience):
		t.Error("subscriber of the session was not notified")
	}
}

func TestCommandsAndReleasedRunsNotifyReplicas(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	heard := listening(t, two)
	run := startRunOn(t, one)
	command := chat.Command{RunID: run.ID, Kind: chat.CommandCancel}
	if err := one.Chats().AddCommand(t.Context(), chat.Local, command); err != nil {
		t.Fatal(err)
	}
	hear(t, heard, store.ToLook)
	if err := one.Chats().Release(t.Context(), "another", run.ID); err != nil { // releases nothing, notifies nobody
		t.Fatal(err)
	}
	mustAppend(t, one, run.ID, chat.AnswerDelta{Text: "a"})
	hear(t, heard, run.ID)
	if err := one.Chats().Release(t.Context(), "server", run.ID); err != nil {
		t.Fatal(err)
	}
	hear(t, heard, store.ToLook)
}

func TestListenReconnects(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	heard := listening(t, two)
	run := startRunOn(t, one)
	if _, err := one.execStatement(t.Context(), longTime,
		`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'LISTEN "' || $1 || '"'`,
		one.channel); err != nil {
		t.Fatal(err)
	}
	hear(t, heard, "")
	hear(t, heard, store.ToLook)
	mustAppend(t, one, run.ID, chat.AnswerDelta{Text: "a"})
	hear(t, heard, run.ID)
}

func TestReaderFollowsRunOnOtherReplica(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	feed := chat.NewFeed(two.Chats())
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		two.Listen(ctx, func(runID string) {
			if runID == "" {
				feed.WakeAll()
			} else {
				feed.Wake(runID)
			}
		}, func(string) {}, func() {})
	})
	defer wg.Wait()
	defer stop()
	run, writer := startRunOn(t, one), chat.NewFeed(one.Chats())
	const n = 200
	wg.Go(func() {
		for i := range n {
			var p chat.Payload = chat.AnswerDelta{Text: "word "}
			if i == n-1 {
				p = chat.RunDone{Status: chat.RunCompleted}
			}
			if err := writer.Append(t.Context(), "server", run.ID, p); err != nil {
				t.Error(err)
			}
		}
	})
	wake, release := feed.Watch(run.ID)
	defer release()
	deadline := time.After(patience)
	for at := int64(0); ; {
		news := wake()
		page, err := feed.Read(t.Context(), chat.Local, run.ID, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Entries {
			if at++; e.Seq != at {
				t.Fatalf("event %d where %d belongs, want %d", e.Seq, at, at)
			}
		}
		if page.Over {
			if at != n {
				t.Errorf("the log ended after %d events, want %d", at, n)
			}
			return
		}
		select {
		case <-news:
		case <-deadline:
			t.Fatalf("no event follows event %d", at)
		}
	}
}

// noting is a store of vectors that records how they are stored. It embeds the vectors of the sqlite package.
type noting struct {
	*sqlite.Vectors
	mu   sync.Mutex
	done []string
}

func (n *noting) note(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done = append(n.done, what)
}

func (n *noting) Insert(ctx context.Context, vs []corpus.Vector) error {
	n.note("insert")
	return n.Vectors.Upsert(ctx, vs)
}

func (n *noting) Upsert(ctx context.Context, vs []corpus.Vector) error {
	n.note("upsert")
	return n.Vectors.Upsert(ctx, vs)
}

func (n *noting) DeleteVectors(ctx context.Context, id string, keep []string) error {
	n.note("delete")
	return n.Vectors.DeleteVectors(ctx, id, keep)
}

// TestFirstVectorsAreInsertedWithoutLookup checks that the first vectors of a document are inserted without
// looking for older ones. The vectors of the next version must replace them.
func TestFirstVectorsAreInsertedWithoutLookup(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	vectors := &noting{}
	library := librarytest.Open(t, t.TempDir(), func(c *corpus.Config, embedded *sqlite.DB) {
		vectors.Vectors = embedded.Vectors("hashing")
		c.Documents, c.Lexical, c.Queue = db.Documents(), db.Lexical(), db.Queue()
		c.Vectors, c.Embedder = vectors, embedtest.Hashing{Dimensions: 16}
	})
	library.Start(t)
	for _, version := range []struct {
		text string
		want []string
	}{
		{"# Roof\n\nThe roof is sound.\n", []string{"insert"}},
		{"# Roof\n\nThe roof leaks.\n", []string{"upsert", "delete"}},
	} {
		d, _, err := library.Add(t.Context(), corpus.Upload{
			User: chat.LocalUser, Filename: "roof.md", Body: strings.NewReader(version.text),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := library.Wait(t.Context(), chat.Local, nil); err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(10 * time.Millisecond)
		for d.Semantic != corpus.SemanticReady { // vectors follow the lexical index
			<-tick.C
			if d, err = library.Document(t.Context(), chat.Local, d.ID); err != nil {
				t.Fatal(err)
			}
		}
		tick.Stop()
		vectors.mu.Lock()
		if !slices.Equal(vectors.done, version.want) {
			t.Errorf("%q was stored by %v, want %v", version.text, vectors.done, version.want)
		}
		vectors.done = nil
		vectors.mu.Unlock()
	}
}

// clock shifts the database's clock relative to that of this process.
func clock(t *testing.T, db *DB, by time.Duration) {
	t.Helper()
	exec(t, db, fmt.Sprintf(`CREATE OR REPLACE FUNCTION now_micros() RETURNS bigint LANGUAGE sql VOLATILE AS
		'SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + %d'`, by.Microseconds()))
}

// TestLeasesUseDatabaseClock checks that a lease lasts as long as requested according to the database's
// clock. A wrong clock of a replica must not matter.
func TestLeasesUseDatabaseClock(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{-time.Hour, 0, time.Hour} {
		t.Run(off.String(), func(t *testing.T) {
			t.Parallel()
			db := openNew(t)
			ctx := t.Context()
			clock(t, db, off)
			lease := func(owner string) chat.Lease {
				return chat.Lease{Owner: owner, Until: time.Now().Add(30 * time.Second)}
			}
			run, _, err := db.Chats().StartRun(ctx, chat.LocalUser, chat.RunRequest{Message: "q"}, lease("one"))
			if err != nil {
				t.Fatal(err)
			}
			takes := func(who string, want int) {
				t.Helper()
				runs, err := db.Chats().TakeOver(ctx, lease(who), time.Now())
				if err != nil || len(runs) != want {
					t.Errorf("%s takes %d runs, %v; want %d", who, len(runs), err, want)
				}
			}
			takes("two", 0)
			clock(t, db, off+20*time.Second)
			if lost, err := db.Chats().Renew(ctx, lease("one"), []string{run.ID}); err != nil || len(lost) != 0 {
				t.Errorf("Renew = %v, %v; want none", lost, err)
			}
			clock(t, db, off+40*time.Second)
			takes("two", 0)
			clock(t, db, off+60*time.Second)
			takes("two", 1)
			takes("three", 0)
			clock(t, db, off+100*time.Second)
			takes("three", 1)
		})
	}
}
