package chattest

import (
	"slices"
	"testing"
	"time"

	"footnote/chat"
)

// TestDamaged checks that a run whose stored request is damaged hides no others. open returns an empty store, and what spoils the stored
// request of a run.
func TestDamaged(t *testing.T, open func(*testing.T) (store chat.Store, spoil func(runID string))) {
	store, spoil := open(t)
	b := bench{store, t}
	first, second := b.ask("s", "one"), b.ask("s", "two")
	third := b.ask("s", "three")
	spoil(second.ID)
	want := chat.Run{ID: second.ID, SessionID: "s", User: second.User, ParentID: first.ID, Request: chat.RunRequest{SessionID: "s"}, Status: chat.RunRunning, CreatedAt: second.CreatedAt, Unreadable: true}
	runs, err := store.Runs(t.Context(), chat.Scope{User: first.User}, "s")
	if err != nil || len(runs) != 3 {
		t.Fatalf("Runs: %d, %v", len(runs), err)
	}
	for i, message := range []string{"one", "", "three"} {
		if runs[i].Request.Message != message || runs[i].Unreadable != (message == "") {
			t.Errorf("run %d is %+v, want the question %q", i, runs[i], message)
		}
	}
	if got := runs[1]; got.ID != want.ID || got.ParentID != want.ParentID || got.Request.SessionID != "s" || got.Status != want.Status {
		t.Errorf("the damaged run is %+v, want %+v", got, want)
	}
	if run, err := store.Run(t.Context(), chat.Scope{User: first.User}, second.ID); err != nil || !run.Unreadable {
		t.Errorf("Run: %+v, %v", run, err)
	}
	taken, err := store.TakeOver(t.Context(), chat.Lease{Owner: "server-2", Until: time.Now().Add(time.Hour)}, time.Now().AddDate(1, 0, 0))
	if ids := []string{first.ID, second.ID, third.ID}; err != nil || !slices.EqualFunc(taken, ids, func(r chat.Run, id string) bool { return r.ID == id }) {
		t.Errorf("TakeOver: %+v, %v; want all three", taken, err)
	}
}
