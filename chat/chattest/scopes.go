package chattest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// reads calls every method with a session or an object in it, and returns the errors by name.
func reads(t *testing.T, b suite, s chat.Scope, session, run, call string) map[string]error {
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

// testScopes checks that another user's objects look like missing ones in every method that takes an id, including
// the message of the error.
func testScopes(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "other user's data has the error of unknown ids", func(
		t *testing.T, b suite,
	) {
		run := b.ask("s", "secret")
		b.mustAppend(run.ID, chat.Step{CallID: "c", Truncated: true, Full: json.RawMessage(`{}`)})
		foreign := reads(t, b, bert, "s", run.ID, "c")
		foreign["DeleteSession"] = b.DeleteSession(t.Context(), bert, "s")
		missing := reads(t, b, bert, "none", chat.NewID(), "none")
		for what, err := range foreign {
			wantCode(t, what, err, chat.CodeNotFound)
			if m := missing[what]; m != nil && err != nil && chat.MessageOf(err) != chat.MessageOf(m) {
				t.Errorf("error of %s = %q for a foreign id, want %q as for an unknown one",
					what, chat.MessageOf(err), chat.MessageOf(m))
			}
		}
		b.mustHide("s")
		wantCode(t, "RestoreSession", b.RestoreSession(t.Context(), bert, "s"), chat.CodeNotFound)
		if err := b.RestoreSession(t.Context(), anna, "s"); err != nil {
			t.Errorf("RestoreSession by the owner: %v", err)
		}
		for what, err := range reads(t, b, anna, "s", run.ID, "c") {
			if err != nil {
				t.Errorf("%s by the owner: %v", what, err)
			}
		}
	})
	parallel(t, open, "lists are user-specific", func(t *testing.T, b suite) {
		b.ask("s", "secret")
		for _, q := range []chat.SessionQuery{{}, {Text: "secret"}} {
			if sessions, _, err := b.Sessions(t.Context(), bert, q); err != nil || len(sessions) != 0 {
				t.Errorf("Sessions(%+v) = %v, %v; want none", q, ids(sessions), err)
			}
		}
	})
	parallel(t, open, "sibling of another user is not found", func(t *testing.T, b suite) {
		run := b.ask("s", "secret")
		_, _, err := b.StartRun(t.Context(), bert.User, chat.RunRequest{Sibling: run.ID}, lease())
		wantCode(t, "StartRun", err, chat.CodeNotFound)
	})
	parallel(t, open, "session ids are unique per user", func(t *testing.T, b suite) {
		first := b.ask("s", "anna asks")
		start := func(s chat.Scope, req chat.RunRequest) chat.Run {
			t.Helper()
			run, _, err := b.StartRun(t.Context(), s.User, req, lease())
			if err != nil {
				t.Fatalf("StartRun(%+v) of %s: %v", req, s.User, err)
			}
			return run
		}
		his := start(bert, chat.RunRequest{SessionID: "s", Message: "bert asks"})
		again := start(bert, chat.RunRequest{SessionID: "s", Message: "bert asks again"})
		if his.SessionID != "s" || his.User != bert.User || his.ParentID != "" || again.ParentID != his.ID {
			t.Errorf("bert's runs are %+v and %+v, want both in his session s, the second behind the first", his, again)
		}
		_, _, err := b.StartRun(t.Context(), bert.User, chat.RunRequest{SessionID: "s", Sibling: first.ID}, lease())
		wantCode(t, "StartRun beside another user's run", err, chat.CodeNotFound)
		for _, s := range []chat.Scope{anna, bert} {
			want := map[string][]string{anna.User: {first.ID}, bert.User: {his.ID, again.ID}}[s.User]
			runs, err := b.Runs(t.Context(), s, "s")
			if got := runIDs(runs); err != nil || !slices.Equal(got, want) {
				t.Errorf("Runs of %s = %q, %v; want %q", s.User, got, err, want)
			}
			if list, _, err := b.Sessions(t.Context(), s, chat.SessionQuery{}); err != nil || len(list) != 1 ||
				list[0].ID != "s" || list[0].HeadID != want[len(want)-1] {
				t.Errorf("Sessions of %s = %+v, %v", s.User, list, err)
			}
			if _, err := b.SetFeedback(t.Context(), s, chat.Feedback{RunID: want[0], Rating: "up"}); err != nil {
				t.Fatalf("SetFeedback: %v", err)
			}
			if said, _, err := b.Feedback(t.Context(), s, chat.FeedbackQuery{SessionID: "s"}); err != nil ||
				len(said) != 1 || said[0].RunID != want[0] || said[0].SessionID != "s" {
				t.Errorf("Feedback of %s = %+v, %v", s.User, said, err)
			}
		}
		if err := b.RenameSession(t.Context(), bert, "s", "his"); err != nil {
			t.Fatalf("RenameSession: %v", err)
		}
		if err := b.DeleteSession(t.Context(), bert, "s"); err != nil {
			t.Fatalf("DeleteSession: %v", err)
		}
		if got := b.mustSession("s"); got.Title == "his" || got.HeadID != first.ID {
			t.Errorf("session of anna after changes of bert's = %+v", got)
		}
		if n, err := b.Purge(t.Context(), time.Now().Add(time.Hour), time.Time{}); err != nil || n != 1 {
			t.Fatalf("Purge = %d, %v; want 1", n, err)
		}
		if runs, err := b.Runs(t.Context(), anna, "s"); err != nil || len(runs) != 1 {
			t.Errorf("runs of anna after the deletion of bert's session = %v, %v", runIDs(runs), err)
		}
		start(bert, chat.RunRequest{SessionID: "s", Message: "bert is back"})
		b.mustHide("s")
		_, _, err = b.StartRun(t.Context(), anna.User, chat.RunRequest{SessionID: "s"}, lease())
		wantCode(t, "StartRun in anna's own hidden session", err, chat.CodeNotFound)
	})
	parallel(t, open, "queues of two users with one session id", func(t *testing.T, b suite) {
		ends := map[string]string{}
		for _, s := range []chat.Scope{anna, bert} {
			run, _, err := b.StartRun(t.Context(), s.User, chat.RunRequest{SessionID: "s", Message: "first"}, lease())
			if err != nil {
				t.Fatalf("StartRun: %v", err)
			}
			ends[s.User] = run.ID
			if _, err := b.Enqueue(t.Context(), s, chat.RunRequest{SessionID: "s", Message: "of " +
				s.User}); err != nil {
				t.Fatalf("Enqueue: %v", err)
			}
		}
		his := chat.SessionKey{User: bert.User, ID: "s"}
		b.finish(ends[anna.User])
		if q, ok, err := b.TakeQueued(t.Context(), his); ok || err != nil {
			t.Errorf("TakeQueued of bert's, whose run is under way, = %+v, %v, %v", q, ok, err)
		}
		b.finish(ends[bert.User])
		if keys, err := b.Waiting(t.Context()); err != nil ||
			!slices.Equal(keys, []chat.SessionKey{{User: anna.User, ID: "s"}, his}) {
			t.Errorf("Waiting = %v, %v", keys, err)
		}
		if q, ok, err := b.TakeQueued(t.Context(), his); !ok || err != nil || q.Request.Message != "of bert" ||
			q.User != bert.User || q.SessionID != "s" {
			t.Errorf("TakeQueued of bert's = %+v, %v, %v", q, ok, err)
		}
	})
	parallel(t, open, "concurrent sessions of many users with one id", func(t *testing.T, b suite) {
		var wg sync.WaitGroup
		for i := range 24 {
			wg.Go(func() {
				user := fmt.Sprint("user", i%6)
				if run, _, err := b.StartRun(
					t.Context(), user, chat.RunRequest{SessionID: "s", Message: "q"}, lease(),
				); err != nil || run.SessionID != "s" {
					t.Errorf("StartRun of %s = %+v, %v", user, run, err)
				}
			})
		}
		wg.Wait()
		for i := range 6 {
			if runs, err := b.Runs(t.Context(), chat.Scope{User: fmt.Sprint("user", i)}, "s"); err != nil ||
				len(runs) != 4 {
				t.Errorf("user%d has %d runs, %v; want 4", i, len(runs), err)
			}
		}
	})
}

func runIDs(runs []chat.Run) (ids []string) {
	for _, run := range runs {
		ids = append(ids, run.ID)
	}
	return ids
}
