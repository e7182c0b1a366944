package chattest

import (
	"slices"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// Spoil damages a run's stored request.
type Spoil func(runID string)

// TestDamaged checks that a run with a damaged or missing stored request hides no other run and stays visible. open
// returns an empty store, and functions that damage a run's stored request or delete its row.
func TestDamaged(t *testing.T, open func(*testing.T) (store chat.Store, breakText, removeText Spoil)) {
	t.Run("unreadable request", func(t *testing.T) {
		t.Parallel()
		store, spoil, _ := open(t)
		testDamaged(t, store, spoil)
	})
	t.Run("request with a missing row", func(t *testing.T) {
		t.Parallel()
		store, _, spoil := open(t)
		testDamaged(t, store, spoil)
	})
}

// testDamaged damages the second of three runs, a node inside the tree, and calls every method that returns runs.
func testDamaged(t *testing.T, store chat.Store, spoil Spoil) {
	b := suite{store, t}
	first, second := b.ask("s", "one"), b.ask("s", "two")
	third := b.ask("s", "three")
	spoil(second.ID)
	want := chat.Run{
		ID: second.ID, SessionID: "s", User: second.User, ParentID: first.ID, Request: chat.RunRequest{SessionID: "s"},
		Status: chat.RunRunning, CreatedAt: second.CreatedAt, Unreadable: true,
	}
	runs, err := store.Runs(t.Context(), chat.Scope{User: first.User}, "s")
	if err != nil || len(runs) != 3 {
		t.Fatalf("Runs: %d, %v", len(runs), err)
	}
	for i, message := range []string{"one", "", "three"} {
		if runs[i].Request.Message != message || runs[i].Unreadable != (message == "") {
			t.Errorf("run %d is %+v, want the question %q", i, runs[i], message)
		}
	}
	if got := runs[1]; got.ID != want.ID || got.ParentID != want.ParentID || got.Request.SessionID != "s" ||
		got.Status != want.Status {
		t.Errorf("the damaged run is %+v, want %+v", got, want)
	}
	if run, err := store.Run(t.Context(), chat.Scope{User: first.User}, second.ID); err != nil || !run.Unreadable {
		t.Errorf("Run: %+v, %v", run, err)
	}
	taken, err := store.TakeOver(
		t.Context(), chat.Lease{Owner: "server-2", Until: time.Now().Add(time.Hour)}, time.Now().AddDate(1, 0, 0),
	)
	if ids := []string{first.ID, second.ID, third.ID}; err != nil ||
		!slices.EqualFunc(taken, ids, func(r chat.Run, id string) bool { return r.ID == id }) {
		t.Errorf("TakeOver: %+v, %v; want all three", taken, err)
	}
	opinion, err := store.SetFeedback(
		t.Context(), chat.Scope{User: first.User}, chat.Feedback{RunID: second.ID, Rating: chat.RatingUp},
	)
	if err != nil || opinion.RunID != second.ID || opinion.Question != "" {
		t.Errorf("SetFeedback: %+v, %v; want it stored without its question", opinion, err)
	}
	if page, _, err := store.Feedback(t.Context(), chat.Scope{User: first.User}, chat.FeedbackQuery{}); err != nil ||
		len(page) != 1 || page[0].RunID != second.ID {
		t.Errorf("Feedback: %+v, %v; want that of the damaged run", page, err)
	}
}
