package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// patience is how long a test waits for what a busy machine may take long for. Nothing is asserted by it.
const patience = 2 * time.Minute

// listening starts Listen and returns what it hears, once it does.
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

// hear waits until want is heard, and fails the test at anything else.
func hear(t *testing.T, heard <-chan string, want string) {
	t.Helper()
	select {
	case got := <-heard:
		if got != want {
			t.Errorf("heard of %q, want %q", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("%q was never heard", want)
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

func TestEveryAppendIsHeardByTheOtherReplicaOnly(t *testing.T) {
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
	hear(t, atOne, theirs.ID) // and nothing of its own before that
	if len(nowhere) > 0 {
		t.Errorf("another schema heard of %q", <-nowhere)
	}
}

func TestAnotherReplicaLearnsWhichBranchOfASessionIsShown(t *testing.T) {
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
	hear(t, atOne, store.HeadMoved) // of the other's, and nothing of its own
	if err := one.Chats().SetHead(t.Context(), user, first.SessionID, "nobody"); err == nil {
		t.Error("SetHead to a run that is not there: no error")
	}
	mustAppend(t, one, first.ID, chat.AnswerDelta{Text: "a"})
	hear(t, atTwo, first.ID) // so nothing was told of what did not change

	feed := chat.NewFeed(two.Chats())
	wake, stop := feed.WatchSession(chat.LocalUser, first.SessionID)
	defer stop()
	news := wake()
	feed.Wake(store.HeadMoved)
	select {
	case <-news:
	case <-time.After(patience):
		t.Error("who watches the session was not woken")
	}
}

func TestACommandAndAReleasedRunCallTheOtherReplicas(t *testing.T) {
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
	if err := one.Chats().Release(t.Context(), "another", run.ID); err != nil { // releases nothing and tells nobody
		t.Fatal(err)
	}
	mustAppend(t, one, run.ID, chat.AnswerDelta{Text: "a"})
	hear(t, heard, run.ID)
	if err := one.Chats().Release(t.Context(), "server", run.ID); err != nil {
		t.Fatal(err)
	}
	hear(t, heard, store.ToLook)
}

func TestListenComesBackAfterItsConnectionBroke(t *testing.T) {
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

func TestAReaderOnOneReplicaFollowsARunOnAnother(t *testing.T) {
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
			t.Fatalf("nothing came after event %d", at)
		}
	}
}
