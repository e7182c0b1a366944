package chattest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testDeletes checks both steps of deleting: hiding, which can be undone and leaves runs under way alone, and Purge,
// after which keys and numbers are free again.
func testDeletes(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "a hidden session and all in it are not found", func(t *testing.T, b bench) {
		run := b.ask("s", "q")
		b.mustAppend(run.ID, chat.Step{CallID: "c", Truncated: true, Full: json.RawMessage(`{}`)})
		b.mustHide("s")
		for what, err := range reads(t, b, anna, "s", run.ID, "c") {
			wantCode(t, what, err, chat.CodeNotFound)
		}
		if sessions, _ := b.mustSessions(chat.SessionQuery{}); len(sessions) != 0 {
			t.Errorf("the list still has %v", ids(sessions))
		}
		wantCode(t, "DeleteSession again", b.DeleteSession(t.Context(), anna, "s"), chat.CodeNotFound)
		_, _, err := b.StartRun(t.Context(), anna.User, chat.RunRequest{SessionID: "s"}, lease())
		wantCode(t, "StartRun in it", err, chat.CodeNotFound)
	})
	parallel(t, open, "a restored session is as before, and its run went on", func(t *testing.T, b bench) {
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
	parallel(t, open, "Purge removes what was hidden before, for good", func(t *testing.T, b bench) {
		kept := b.ask("kept", "q")
		run := b.ask("s", "q") // the newest: a store may give its number away again
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
			t.Error("a new session under the old id is not empty")
		}
	})
	parallel(t, open, "Purge removes idle sessions, but not while they run", func(t *testing.T, b bench) {
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
	parallel(t, open, "Purge counts many, and their keys are free again", func(t *testing.T, b bench) {
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
