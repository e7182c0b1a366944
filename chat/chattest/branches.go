package chattest

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

// testBranches checks the tree of a session's runs: the parents of new runs and of siblings, and that only a run of
// the session can be its head.
func testBranches(t *testing.T, open func(*testing.T) chat.Store) {
	again := func(b suite, of chat.Run, question string) chat.Run {
		b.t.Helper()
		run, _, err := b.StartRun(b.t.Context(), anna.User, chat.RunRequest{
			SessionID: of.SessionID, Message: question, Sibling: of.ID,
		}, lease())
		if err != nil {
			b.t.Fatalf("StartRun beside %s: %v, want no error", of.ID, err)
		}
		return run
	}
	wantHead := func(b suite, what string, head chat.Run, turns int) {
		b.t.Helper()
		if s := b.mustSession("s"); s.HeadID != head.ID || s.TurnCount != turns {
			b.t.Errorf("%s: head %s with %d turns, want %s with %d", what, s.HeadID, s.TurnCount, head.ID, turns)
		}
	}
	parallel(t, open, "run follows the head", func(t *testing.T, b suite) {
		one := b.ask("s", "one")
		two := b.ask("s", "two")
		if one.ParentID != "" || two.ParentID != one.ID || b.mustRun(two.ID).ParentID != one.ID {
			t.Errorf("parents %q and %q, want none and %q", one.ParentID, two.ParentID, one.ID)
		}
		wantHead(b, "two runs", two, 2)
	})
	parallel(t, open, "sibling shares the parent and becomes the head", func(t *testing.T, b suite) {
		one := b.ask("s", "one")
		two := b.ask("s", "two")
		three := b.ask("s", "three")
		edited := again(b, two, "two, edited")
		if edited.ParentID != one.ID {
			t.Errorf("parent %q, want %q", edited.ParentID, one.ID)
		}
		wantHead(b, "after an edit", edited, 2)
		if next := b.ask("s", "next"); next.ParentID != edited.ID {
			t.Errorf("the next run follows %q, want the edited %q", next.ParentID, edited.ID)
		}
		first := again(b, one, "one, edited")
		if first.ParentID != "" {
			t.Errorf("parent of a first question's sibling = %q, want none", first.ParentID)
		}
		wantHead(b, "after editing the first", first, 1)
		if err := b.SetHead(t.Context(), anna, "s", three.ID); err != nil {
			t.Fatal(err)
		}
		wantHead(b, "back on the old branch", three, 3)
	})
	parallel(t, open, "sibling must be in the session", func(t *testing.T, b suite) {
		b.ask("s", "one")
		other := b.ask("other", "one")
		for _, id := range []string{other.ID, chat.NewID()} {
			_, _, err := b.StartRun(t.Context(), anna.User, chat.RunRequest{SessionID: "s", Sibling: id}, lease())
			wantCode(t, "in the session", err, chat.CodeNotFound)
		}
		_, _, err := b.StartRun(t.Context(), anna.User, chat.RunRequest{SessionID: "new", Sibling: other.ID}, lease())
		wantCode(t, "in a new session", err, chat.CodeNotFound)
		_, err = b.Session(t.Context(), anna, "new")
		wantCode(t, "the session of a run that failed to start", err, chat.CodeNotFound)
	})
	parallel(t, open, "head must be in the session", func(t *testing.T, b suite) {
		one, other := b.ask("s", "one"), b.ask("other", "one")
		for _, id := range []string{other.ID, chat.NewID()} {
			wantCode(t, "SetHead", b.SetHead(t.Context(), anna, "s", id), chat.CodeNotFound)
		}
		wantHead(b, "after failing", one, 1)
	})
}
