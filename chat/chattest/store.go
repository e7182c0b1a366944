// Package chattest is the contract of chat.Store as tests. Each store's own tests call TestStore.
//
// A promise in the comments of chat.Store that has no test here does not hold: what only one database does belongs into
// that database's tests. TestStore checks the stores alone, TestFeed a chat.Feed over them, and TestDamaged rows that
// can't be read, for which the caller must know how to break one. Each subtest opens a store of its own and runs in
// parallel with the others, so no test can lean on what another left.
//
// store.go has what all tests use; the other files have a concern of the contract each, named as its file in package
// chat where there is one.
package chattest

import (
	"fmt"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// TestStore checks each promise in chat.Store's comments. open returns an empty store, once per subtest, and closes it
// when its test ends. A subtest of its result is named concern/promise, so one promise is run with -run
// 'TestStore/leases/renewed'.
func TestStore(t *testing.T, open func(*testing.T) chat.Store) {
	for _, concern := range []struct {
		name string
		test func(*testing.T, func(*testing.T) chat.Store)
	}{
		{"runs", testRuns},
		{"idempotency keys", testKeys},
		{"the log", testAppend},
		{"reading the log", testEvents},
		{"leases", testLeases},
		{"commands", testCommands},
		{"sessions", testSessions},
		{"lists of sessions", testLists},
		{"branches", testBranches},
		{"deleting", testDeletes},
		{"scopes", testScopes},
		{"feedback", testFeedback},
		{"links to answers", testShares},
		{"waiting questions", testQueue},
		{"limits", testLimits},
		{"kept questions", testStanding},
		{"tables over documents", testGrids},
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

// lease is one that does not end while a test runs.
func lease() chat.Lease { return chat.Lease{Owner: owner, Until: time.Now().Add(time.Hour)} }

// A bench is a store with the helpers that the tests share. Its mustX methods fail the test on an error. It is passed
// by value: the store is shared, and t is that of the subtest.
type bench struct {
	chat.Store
	t *testing.T
}

// parallel runs a subtest on an empty store of its own.
func parallel(t *testing.T, open func(*testing.T) chat.Store, name string, test func(*testing.T, bench)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, bench{Store: open(t), t: t})
	})
}

// ask starts a run of anna's in a session; an empty one is a new one.
func (b bench) ask(session, question string) chat.Run {
	b.t.Helper()
	run, fresh, err := b.StartRun(
		b.t.Context(), anna.User, chat.RunRequest{SessionID: session, Message: question}, lease(),
	)
	if err != nil || !fresh {
		b.t.Fatalf("StartRun(%q in %q): fresh %v, %v", question, session, fresh, err)
	}
	return run
}

// The append is by the owner of lease().
func (b bench) mustAppend(runID string, payloads ...chat.Payload) []chat.Event {
	b.t.Helper()
	events, err := b.Append(b.t.Context(), owner, runID, payloads...)
	if err != nil {
		b.t.Fatalf("Append: %v", err)
	}
	return events
}

// It has no answer, which a run need not have.
func (b bench) finish(runID string) {
	b.t.Helper()
	b.mustAppend(runID, chat.RunDone{Status: chat.RunCompleted})
}

func (b bench) mustEvents(runID string, after int64, limit int) []chat.Event {
	b.t.Helper()
	events, err := b.Events(b.t.Context(), anna, runID, after, limit)
	if err != nil {
		b.t.Fatalf("Events(after %d, limit %d): %v", after, limit, err)
	}
	return events
}

func (b bench) mustSession(id string) chat.Session {
	b.t.Helper()
	session, err := b.Session(b.t.Context(), anna, id)
	if err != nil {
		b.t.Fatalf("Session(%q): %v", id, err)
	}
	return session
}

func (b bench) mustSessions(q chat.SessionQuery) ([]chat.Session, string) {
	b.t.Helper()
	sessions, next, err := b.Sessions(b.t.Context(), anna, q)
	if err != nil {
		b.t.Fatalf("Sessions(%+v): %v", q, err)
	}
	return sessions, next
}

func (b bench) mustRun(id string) chat.Run {
	b.t.Helper()
	run, err := b.Run(b.t.Context(), anna, id)
	if err != nil {
		b.t.Fatalf("Run(%q): %v", id, err)
	}
	return run
}

func (b bench) mustHide(session string) {
	b.t.Helper()
	if err := b.DeleteSession(b.t.Context(), anna, session); err != nil {
		b.t.Fatalf("DeleteSession: %v", err)
	}
}

// wantCode fails the test unless err has the code. It compares codes and not sentences, as programs that use the API
// do.
func wantCode(t *testing.T, what string, err error, want chat.Code) {
	t.Helper()
	if err == nil || chat.CodeOf(err) != want {
		t.Errorf("%s: error %v, want code %s", what, err, want)
	}
}

// Their texts differ, so that a test which confuses two of them fails.
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
