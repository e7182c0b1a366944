package chattest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// testSessions checks a session's title, head, turns, and whether one of its runs is under way.
func testSessions(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "session has title, head, turns and running", func(t *testing.T, b suite) {
		first := b.ask("s", "How long is it?\nTell me.")
		b.finish(first.ID)
		second := b.ask("s", "And how wide?")
		got := b.mustSession("s")
		want := chat.Session{
			ID: "s", User: anna.User, Title: "How long is it?", HeadID: second.ID, TurnCount: 2, Running: true,
			CreatedAt: first.CreatedAt, UpdatedAt: second.CreatedAt,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("while running (-want +got):\n%s", diff)
		}
		b.finish(second.ID)
		want.Running, want.UpdatedAt = false, b.mustRun(second.ID).EndedAt
		if diff := cmp.Diff(want, b.mustSession("s")); diff != "" {
			t.Errorf("after the end (-want +got):\n%s", diff)
		}
	})
	parallel(t, open, "session runs while any run does", func(t *testing.T, b suite) {
		b.ask("s", "one")
		b.finish(b.ask("s", "two").ID)
		if !b.mustSession("s").Running {
			t.Error("session is not running during its first run")
		}
	})
	parallel(t, open, "renamed session keeps its name", func(t *testing.T, b suite) {
		b.ask("s", "one")
		for _, title := range []string{"x", strings.Repeat("漢", 200)} {
			if err := b.RenameSession(t.Context(), anna, "s", title); err != nil {
				t.Fatalf("RenameSession(%q): %v", title, err)
			}
			b.ask("s", "two")
			if got := b.mustSession("s").Title; got != title {
				t.Errorf("title = %q, want %q", got, title)
			}
		}
	})
	parallel(t, open, "title has 1 to 200 runes", func(t *testing.T, b suite) {
		b.ask("s", "one")
		for _, title := range []string{"", strings.Repeat("x", 201)} {
			wantCode(t, title, b.RenameSession(t.Context(), anna, "s", title), chat.CodeInvalid)
		}
		if got := b.mustSession("s").Title; got != "one" {
			t.Errorf("title = %q, want it unchanged", got)
		}
	})
	parallel(t, open, "unknown ids are not found", func(t *testing.T, b suite) {
		other := b.ask("other", "q")
		_, err := b.Session(t.Context(), anna, "s")
		wantCode(t, "Session", err, chat.CodeNotFound)
		_, err = b.Runs(t.Context(), anna, "s")
		wantCode(t, "Runs", err, chat.CodeNotFound)
		_, err = b.Run(t.Context(), anna, chat.NewID())
		wantCode(t, "Run", err, chat.CodeNotFound)
		_, err = b.Events(t.Context(), anna, chat.NewID(), 0, 0)
		wantCode(t, "Events", err, chat.CodeNotFound)
		wantCode(t, "RenameSession", b.RenameSession(t.Context(), anna, "s", "x"), chat.CodeNotFound)
		wantCode(t, "SetHead", b.SetHead(t.Context(), anna, "s", other.ID), chat.CodeNotFound)
		wantCode(t, "DeleteSession", b.DeleteSession(t.Context(), anna, "s"), chat.CodeNotFound)
		wantCode(t, "RestoreSession", b.RestoreSession(t.Context(), anna, "s"), chat.CodeNotFound)
	})
}
