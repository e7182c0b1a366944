package chattest

import (
	"encoding/json"
	"testing"

	"footnote/chat"
)

// reads does everything that names a session or something in it, and returns the errors by name.
func reads(t *testing.T, b bench, s chat.Scope, session, run, call string) map[string]error {
	t.Helper()
	errs := map[string]error{
		"RenameSession": b.RenameSession(t.Context(), s, session, "x"),
		"SetHead":       b.SetHead(t.Context(), s, session, run),
	}
	_, errs["Session"] = b.Session(t.Context(), s, session)
	_, errs["Runs"] = b.Runs(t.Context(), s, session)
	_, errs["Run"] = b.Run(t.Context(), s, run)
	_, errs["Events"] = b.Events(t.Context(), s, run, 0, 0)
	_, errs["StepOutput"] = b.StepOutput(t.Context(), s, run, call)
	return errs
}

func testScopes(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "nothing of another user's is found, in the same words as what is not there", func(t *testing.T, b bench) {
		run := b.ask("s", "secret")
		b.mustAppend(run.ID, chat.Step{CallID: "c", Truncated: true, Full: json.RawMessage(`{}`)})
		foreign := reads(t, b, bert, "s", run.ID, "c")
		foreign["DeleteSession"] = b.DeleteSession(t.Context(), bert, "s")
		_, _, foreign["StartRun"] = b.StartRun(t.Context(), bert.User, chat.RunRequest{SessionID: "s"}, lease())
		missing := reads(t, b, bert, "none", chat.NewID(), "none")
		for what, err := range foreign {
			wantCode(t, what, err, chat.CodeNotFound)
			if m := missing[what]; m != nil && err != nil && chat.MessageOf(err) != chat.MessageOf(m) {
				t.Errorf("%s says %q of a foreign thing and %q of none", what, chat.MessageOf(err), chat.MessageOf(m))
			}
		}
		b.mustHide("s")
		wantCode(t, "RestoreSession", b.RestoreSession(t.Context(), bert, "s"), chat.CodeNotFound)
		if err := b.RestoreSession(t.Context(), anna, "s"); err != nil {
			t.Errorf("the owner's RestoreSession: %v", err)
		}
		for what, err := range reads(t, b, anna, "s", run.ID, "c") {
			if err != nil {
				t.Errorf("the owner's %s: %v", what, err)
			}
		}
	})
	parallel(t, open, "lists hold one's own", func(t *testing.T, b bench) {
		b.ask("s", "secret")
		for _, q := range []chat.SessionQuery{{}, {Text: "secret"}} {
			if sessions, _, err := b.Sessions(t.Context(), bert, q); err != nil || len(sessions) != 0 {
				t.Errorf("Sessions(%+v) = %v, %v; want none", q, ids(sessions), err)
			}
		}
	})
	parallel(t, open, "a sibling of another user's is not found", func(t *testing.T, b bench) {
		run := b.ask("s", "secret")
		_, _, err := b.StartRun(t.Context(), bert.User, chat.RunRequest{Sibling: run.ID}, lease())
		wantCode(t, "StartRun", err, chat.CodeNotFound)
	})
}
