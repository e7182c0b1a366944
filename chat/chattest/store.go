// Package chattest tests the contract of chat.Store. Each store's own tests call TestStore.
//
// Every guarantee in the comments of chat.Store needs a test here; behaviour of only one database belongs in that
// database's tests. TestStore checks the stores alone, TestFeed a chat.Feed over them, and TestDamaged unreadable
// rows, for which the caller supplies functions that damage one. Each subtest opens a store of its own and runs in
// parallel, so no test depends on another's data.
//
// store.go has the shared helpers. The other files test one part of the contract each, named as its file in package
// chat if there is one.
package chattest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// TestStore checks each guarantee in chat.Store's comments. open returns an empty store, once per subtest, and
// closes it when its test ends. Subtests are named concern/guarantee, for example -run 'TestStore/leases/renewed'.
func TestStore(t *testing.T, open func(*testing.T) chat.Store) {
	for _, concern := range []struct {
		name string
		test func(*testing.T, func(*testing.T) chat.Store)
	}{
		{"runs", testRuns},
		{"idempotency keys", testKeys},
		{"log", testAppend},
		{"log reads", testEvents},
		{"leases", testLeases},
		{"commands", testCommands},
		{"sessions", testSessions},
		{"session lists", testLists},
		{"branches", testBranches},
		{"deletion", testDeletes},
		{"scopes", testScopes},
		{"feedback", testFeedback},
		{"share links", testShares},
		{"queued questions", testQueue},
		{"limits", testLimits},
		{"standing questions", testStanding},
		{"grids", testGrids},
		{"webhooks", testWebhooks},
	} {
		t.Run(concern.name, func(t *testing.T) {
			t.Parallel()
			concern.test(t, open)
		})
	}
}

const owner = "server-1"

var (
	anna = chat.Scope{User: "anna"}
	bert = chat.Scope{User: "bert"}
)

// lease returns a lease that does not expire while a test runs.
func lease() chat.Lease { return chat.Lease{Owner: owner, Until: time.Now().Add(time.Hour)} }

// A bench is a store with the shared test helpers. Its mustX methods fail the test on an error. It is passed by
// value: the store is shared, and t is that of the subtest.
type suite struct {
	chat.Store
	t *testing.T
}

// parallel runs a parallel subtest on an empty store of its own.
func parallel(t *testing.T, open func(*testing.T) chat.Store, name string, test func(*testing.T, suite)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, suite{Store: open(t), t: t})
	})
}

// ask starts a run of anna's in a session, a new one if session is empty.
func (b suite) ask(session, question string) chat.Run {
	b.t.Helper()
	run, fresh, err := b.StartRun(
		b.t.Context(), anna.User, chat.RunRequest{SessionID: session, Message: question}, lease(),
	)
	if err != nil || !fresh {
		b.t.Fatalf("StartRun(%q in %q) = fresh %v, %v", question, session, fresh, err)
	}
	return run
}

// mustAppend appends as the owner of lease().
func (b suite) mustAppend(runID string, payloads ...chat.Payload) []chat.Event {
	b.t.Helper()
	events, err := b.Append(b.t.Context(), owner, runID, payloads...)
	if err != nil {
		b.t.Fatalf("Append: %v", err)
	}
	return events
}

// finish ends a run without an answer.
func (b suite) finish(runID string) {
	b.t.Helper()
	b.mustAppend(runID, chat.RunDone{Status: chat.RunCompleted})
}

func (b suite) mustEvents(runID string, after int64, limit int) []chat.Event {
	b.t.Helper()
	events, err := b.Events(b.t.Context(), anna, runID, after, limit)
	if err != nil {
		b.t.Fatalf("Events(after %d, limit %d): %v", after, limit, err)
	}
	return events
}

func (b suite) mustSession(id string) chat.Session {
	b.t.Helper()
	session, err := b.Session(b.t.Context(), anna, id)
	if err != nil {
		b.t.Fatalf("Session(%q): %v", id, err)
	}
	return session
}

func (b suite) mustSessions(q chat.SessionQuery) ([]chat.Session, string) {
	b.t.Helper()
	sessions, next, err := b.Sessions(b.t.Context(), anna, q)
	if err != nil {
		b.t.Fatalf("Sessions(%+v): %v", q, err)
	}
	return sessions, next
}

func (b suite) mustRun(id string) chat.Run {
	b.t.Helper()
	run, err := b.Run(b.t.Context(), anna, id)
	if err != nil {
		b.t.Fatalf("Run(%q): %v", id, err)
	}
	return run
}

func (b suite) mustHide(session string) {
	b.t.Helper()
	if err := b.DeleteSession(b.t.Context(), anna, session); err != nil {
		b.t.Fatalf("DeleteSession: %v", err)
	}
}

// wantCode fails the test unless err has the code. It compares codes and not messages, as API clients do.
func wantCode(t *testing.T, what string, err error, want chat.Code) {
	t.Helper()
	if err == nil || chat.CodeOf(err) != want {
		t.Errorf("%s: error %v, want code %s", what, err, want)
	}
}

// deltas returns n deltas with different texts, to detect mix-ups.
func deltas(n int) []chat.Payload {
	payloads := make([]chat.Payload, n)
	for i := range payloads {
		payloads[i] = chat.AnswerDelta{Text: fmt.Sprintf("delta %d ", i)}
	}
	return payloads
}

func seqs(events []chat.Event) []int64 {
	numbers := make([]int64, len(events))
	for i, e := range events {
		numbers[i] = e.Seq
	}
	return numbers
}

func ids(sessions []chat.Session) []string {
	names := make([]string, len(sessions))
	for i, s := range sessions {
		names[i] = s.ID
	}
	return names
}

// oneTo returns 1, 2, … n.
func oneTo(n int) []int64 {
	numbers := make([]int64, n)
	for i := range numbers {
		numbers[i] = int64(i) + 1
	}
	return numbers
}

// testDeletes checks both steps of a deletion: hiding, which can be undone and does not affect running runs, and
// Purge, after which keys and numbers can be reused.
func testDeletes(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "hidden session and its data are not found", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		b.mustAppend(run.ID, chat.Step{CallID: "c", Truncated: true, Full: json.RawMessage(`{}`)})
		b.mustHide("s")
		for what, err := range reads(t, b, anna, "s", run.ID, "c") {
			wantCode(t, what, err, chat.CodeNotFound)
		}
		if sessions, _ := b.mustSessions(chat.SessionQuery{}); len(sessions) != 0 {
			t.Errorf("list after the deletion = %v, want none", ids(sessions))
		}
		wantCode(t, "DeleteSession again", b.DeleteSession(t.Context(), anna, "s"), chat.CodeNotFound)
		_, _, err := b.StartRun(t.Context(), anna.User, chat.RunRequest{SessionID: "s"}, lease())
		wantCode(t, "StartRun in it", err, chat.CodeNotFound)
	})
	parallel(t, open, "restored session is unchanged and its run continued", func(t *testing.T, b suite) {
		run := b.ask("s", "q")
		b.mustHide("s")
		b.mustAppend(run.ID, deltas(1)...)
		b.finish(run.ID)
		if err := b.RestoreSession(t.Context(), anna, "s"); err != nil {
			t.Fatalf("RestoreSession: %v", err)
		}
		if got := len(b.mustEvents(run.ID, 0, 0)); got != 2 || b.mustSession("s").HeadID != run.ID {
			t.Errorf("%d events, want 2", got)
		}
		wantCode(t, "RestoreSession of what is not hidden", b.RestoreSession(t.Context(), anna, "s"), chat.CodeNotFound)
	})
	parallel(t, open, "Purge deletes hidden sessions", func(t *testing.T, b suite) {
		kept := b.ask("kept", "q")
		run := b.ask("s", "q") // the newest: a store may reuse its number
		b.mustAppend(run.ID, deltas(5)...)
		b.mustAppend(kept.ID, deltas(5)...)
		b.mustHide("s")
		if n, err := b.Purge(t.Context(), time.Now().Add(-time.Minute), time.Time{}); n != 0 || err != nil {
			t.Fatalf("Purge of older ones = %d, %v; want none", n, err)
		}
		if n, err := b.Purge(t.Context(), time.Now().Add(time.Minute), time.Time{}); n != 1 || err != nil {
			t.Fatalf("Purge = %d, %v; want one", n, err)
		}
		wantCode(t, "RestoreSession", b.RestoreSession(t.Context(), anna, "s"), chat.CodeNotFound)
		_, err := b.Append(t.Context(), owner, run.ID, deltas(1)...)
		wantCode(t, "Append", err, chat.CodeNotFound)
		if got := len(b.mustEvents(kept.ID, 0, 0)); got != 5 {
			t.Errorf("the other session has %d events left, want 5", got)
		}
		if fresh := b.ask("s", "new"); len(b.mustEvents(fresh.ID, 0, 0)) != 0 || b.mustSession("s").TurnCount != 1 {
			t.Error("new session under the old id is not empty")
		}
	})
	parallel(t, open, "Purge deletes idle sessions without active runs", func(t *testing.T, b suite) {
		b.finish(b.ask("idle", "q").ID)
		b.ask("running", "q")
		soon := time.Now().Add(time.Minute)
		if n, err := b.Purge(t.Context(), time.Time{}, time.Now().Add(-time.Minute)); n != 0 || err != nil {
			t.Fatalf("Purge of older ones = %d, %v; want none", n, err)
		}
		if n, err := b.Purge(t.Context(), time.Time{}, soon); n != 1 || err != nil {
			t.Fatalf("Purge = %d, %v; want one", n, err)
		}
		sessions, _ := b.mustSessions(chat.SessionQuery{})
		if got := ids(sessions); !slices.Equal(got, []string{"running"}) {
			t.Errorf("left: %v, want the running one", got)
		}
	})
	parallel(t, open, "Purge counts sessions and frees their keys", func(t *testing.T, b suite) {
		req := chat.RunRequest{Message: "q", IdempotencyKey: "key"}
		first, _, err := b.StartRun(t.Context(), anna.User, req, lease())
		if err != nil {
			t.Fatal(err)
		}
		b.mustHide(first.SessionID)
		for range 49 {
			b.mustHide(b.ask("", "q").SessionID)
		}
		if n, err := b.Purge(t.Context(), time.Now().Add(time.Minute), time.Time{}); n != 50 || err != nil {
			t.Errorf("Purge = %d, %v; want 50", n, err)
		}
		if run, fresh, err := b.StartRun(t.Context(), anna.User, req, lease()); err != nil || !fresh ||
			run.ID == first.ID {
			t.Errorf("StartRun = %s, fresh %v, %v; want a new run", run.ID, fresh, err)
		}
	})
}

// testAppend checks that a log is numbered without gaps across writers, that an append is atomic, and that nothing
// follows a run's end. A store without a lock on the run's row fails the concurrent cases.
func testAppend(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "events are numbered from 1 and round trip", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		appended := b.mustAppend(
			run.ID, chat.RunStarted{Question: "<q> \u2028 ü"}, chat.AnswerDelta{Text: "a\r\n\r\nb"},
		)
		appended = append(appended, b.mustAppend(run.ID, chat.AnswerReset{CallID: "c"})...)
		if got := seqs(appended); !slices.Equal(got, oneTo(3)) {
			t.Errorf("numbers = %v, want 1, 2, 3", got)
		}
		if diff := cmp.Diff(appended, b.mustEvents(run.ID, 0, 0)); diff != "" {
			t.Errorf("Events (-appended +got):\n%s", diff)
		}
	})
	parallel(t, open, "concurrent appends are numbered without gaps", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() { b.mustAppend(run.ID, deltas(3)...) })
		}
		wg.Wait()
		if got := seqs(b.mustEvents(run.ID, 0, 0)); !slices.Equal(got, oneTo(120)) {
			t.Errorf("numbers = %v, want 1 to 120", got)
		}
	})
	parallel(t, open, "runs have separate numbers", func(t *testing.T, b suite) {
		one, two := b.ask("s", "q"), b.ask("s", "q")
		var wg sync.WaitGroup
		for _, run := range []chat.Run{one, two} {
			wg.Go(func() {
				for range 10 {
					b.mustAppend(run.ID, deltas(2)...)
				}
			})
		}
		wg.Wait()
		for _, run := range []chat.Run{one, two} {
			if got := seqs(b.mustEvents(run.ID, 0, 0)); !slices.Equal(got, oneTo(20)) {
				t.Errorf("numbers = %v, want 1 to 20", got)
			}
		}
	})
	parallel(t, open, "no event follows the end of a run", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		_, err := b.Append(
			t.Context(), owner, run.ID, chat.RunDone{Status: chat.RunCompleted}, chat.AnswerDelta{Text: "late"},
		)
		wantCode(t, "behind the end in one call", err, chat.CodeInvalid)
		b.finish(run.ID)
		_, err = b.Append(t.Context(), owner, run.ID, chat.AnswerDelta{Text: "late"})
		wantCode(t, "a delta after the end", err, chat.CodeConflict)
		_, err = b.Append(t.Context(), owner, run.ID, chat.RunDone{Status: chat.RunFailed})
		wantCode(t, "a second end", err, chat.CodeConflict)
		if got := b.mustEvents(run.ID, 0, 0); len(got) != 1 {
			t.Errorf("%d events, want the end alone", len(got))
		}
	})
	parallel(t, open, "one of many ends wins", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for range 20 {
			wg.Go(func() {
				if _, err := b.Append(t.Context(), owner, run.ID, chat.RunDone{Status: chat.RunCancelled}); err == nil {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if events := b.mustEvents(run.ID, 0, 0); won != 1 || len(events) != 1 {
			t.Errorf("%d ends succeeded and %d are stored, want one", won, len(events))
		}
	})
	parallel(t, open, "failed append leaves nothing", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		_, err := b.Append(t.Context(), owner, run.ID, chat.AnswerDelta{Text: "x"}, chat.Reset{})
		wantCode(t, "a reset", err, chat.CodeInvalid)
		_, err = b.Append(
			t.Context(), owner, run.ID, chat.AnswerDelta{Text: "x"}, chat.Step{Details: map[string]any{"f": func() {}}},
		)
		if err == nil {
			t.Error("invalid JSON was stored")
		}
		if got := b.mustEvents(run.ID, 0, 0); len(got) != 0 {
			t.Errorf("%d events, want none", len(got))
		}
	})
	parallel(t, open, "append requires the lease and a run", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		_, err := b.Append(t.Context(), "server-2", run.ID, deltas(1)...)
		wantCode(t, "another server", err, chat.CodeConflict)
		_, err = b.Append(t.Context(), owner, chat.NewID(), deltas(1)...)
		wantCode(t, "an unknown run", err, chat.CodeNotFound)
	})
	parallel(t, open, "empty append stores nothing", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		if events := b.mustAppend(run.ID); len(events) != 0 || len(b.mustEvents(run.ID, 0, 0)) != 0 {
			t.Error("got events, want none")
		}
	})
	parallel(t, open, "full output of a truncated step is stored separately", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		full := json.RawMessage(`{"results": ["a", "ü"]}`)
		b.mustAppend(run.ID,
			chat.Step{CallID: "cut", Truncated: true, ToolOutput: json.RawMessage(`{}`), Full: full},
			chat.Step{CallID: "whole", ToolOutput: json.RawMessage(`{}`)})
		if got, err := b.StepOutput(t.Context(), anna, run.ID, "cut"); err != nil || string(got) != string(full) {
			t.Errorf("StepOutput = %s, %v; want %s", got, err, full)
		}
		for _, call := range []string{"whole", "unknown"} {
			_, err := b.StepOutput(t.Context(), anna, run.ID, call)
			wantCode(t, call, err, chat.CodeNotFound)
		}
	})
}

// testEvents checks reads: from every position, before and after a run's end, exactly the later events are returned.
// Resuming a stream depends on it.
func testEvents(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "every position is followed by the exact rest", func(
		t *testing.T, b suite,
	) {
		const n = 30
		run := b.ask("", "q")
		b.mustAppend(run.ID, deltas(n-1)...)
		check := func(last int) {
			for k := range last + 1 {
				if got, want := seqs(b.mustEvents(run.ID, int64(k), 0)), oneTo(last)[k:]; !slices.Equal(got, want) {
					t.Errorf("after %d: %v, want %v", k, got, want)
				}
			}
		}
		check(n - 1)
		b.finish(run.ID)
		check(n)
	})
	parallel(t, open, "invalid positions are followed by nothing or everything", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		b.mustAppend(run.ID, deltas(3)...)
		b.mustAppend(b.ask("", "next").ID, deltas(3)...) // adjacent events of another run
		for after, want := range map[int64]int{4: 0, 1 << 20: 0, 1<<20 +
			1: 0, math.MaxInt64: 0, -1: 3, math.MinInt64: 3} {
			if got := b.mustEvents(run.ID, after, 0); len(got) != want {
				t.Errorf("after %d: %d events, want %d", after, len(got), want)
			}
		}
	})
	parallel(t, open, "page has 200 events by default and at most 1000", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		b.mustAppend(run.ID, deltas(1001)...)
		for limit, want := range map[int]int{0: chat.DefaultPage, 1: 1, 999: 999, 1000: 1000, 5000: chat.MaxPage} {
			if got := seqs(b.mustEvents(run.ID, 0, limit)); !slices.Equal(got, oneTo(want)) {
				t.Errorf("limit %d: %d events, want the first %d", limit, len(got), want)
			}
		}
	})
	parallel(t, open, "run without events", func(t *testing.T, b suite) {
		if got := b.mustEvents(b.ask("", "q").ID, 0, 0); len(got) != 0 {
			t.Errorf("events = %v", got)
		}
	})
	parallel(t, open, "event time is UTC in whole microseconds", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		at := b.mustAppend(run.ID, deltas(1)...)[0].At
		if at.Location().String() != "UTC" || at.Nanosecond()%1000 != 0 || at.IsZero() {
			t.Errorf("At = %v", at)
		}
	})
}
