package chattest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// testRuns checks that a request is stored completely, and that CheckWrites rolls back.
func testRuns(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "run round trip includes the request", func(t *testing.T, b suite) {
		temperature, seed, steps, yes := 0.5, int64(7), 3, true
		req := chat.RunRequest{
			SessionID: "s-1", Message: "What?\n\"quoted\" <b> ü 漢 \u2028",
			ContextText: strings.Repeat("context ", 1000), AddedContext: "besides\n\nthe documents", Namespace: "n",
			DocumentIDs: []string{"a", "b"}, Toolset: "cursor", IdempotencyKey: "k",
			Config: chat.RunConfig{
				Temperature: &temperature, Seed: &seed, MaxSteps: &steps, RequireCitations: &yes,
				EnabledTools: []string{"calculate"},
			},
		}
		before := time.Now().Add(-time.Millisecond)
		run, fresh, err := b.StartRun(t.Context(), anna.User, req, lease())
		if err != nil || !fresh {
			t.Fatalf("StartRun = fresh %v, %v", fresh, err)
		}
		req.IdempotencyKey = ""
		want := chat.Run{
			ID: run.ID, SessionID: "s-1", User: anna.User, Request: req, Status: chat.RunRunning,
			CreatedAt: run.CreatedAt,
		}
		if diff := cmp.Diff(want, run); diff != "" {
			t.Errorf("StartRun returned (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(run, b.mustRun(run.ID)); diff != "" {
			t.Errorf("Run (-StartRun +got):\n%s", diff)
		}
		if run.CreatedAt.Before(before) || run.CreatedAt.After(time.Now()) || run.CreatedAt.Location() != time.UTC {
			t.Errorf("CreatedAt = %v, want now in UTC", run.CreatedAt)
		}
	})
	parallel(t, open, "dry run stores nothing", func(t *testing.T, b suite) {
		for range 2 {
			if err := b.CheckWrites(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sessions, _, err := b.Sessions(t.Context(), chat.Local, chat.SessionQuery{})
		if err != nil || len(sessions) != 0 {
			t.Errorf("%d sessions, %v; want none", len(sessions), err)
		}
		left, err := b.TakeOver(t.Context(), lease(), time.Now().Add(time.Hour))
		if err != nil || len(left) != 0 {
			t.Errorf("%d runs to take over, %v; want none", len(left), err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.CheckWrites(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("for a caller who has gone: %v, want %v", err, context.Canceled)
		}
	})
	parallel(t, open, "empty session id creates a session", func(t *testing.T, b suite) {
		first, second := b.ask("", "one"), b.ask("", "two")
		if first.SessionID == "" || first.SessionID == second.SessionID || first.Request.SessionID != first.SessionID {
			t.Errorf(
				"sessions %q (in the request: %q) and %q, want two different ones", first.SessionID,
				first.Request.SessionID, second.SessionID,
			)
		}
		b.mustSession(first.SessionID)
	})
	parallel(t, open, "malformed session id is invalid", func(t *testing.T, b suite) {
		for _, id := range []string{"a b", "ü", "a/b", strings.Repeat("x", 129)} {
			_, _, err := b.StartRun(t.Context(), anna.User, chat.RunRequest{SessionID: id}, lease())
			wantCode(t, id, err, chat.CodeInvalid)
		}
	})
	parallel(t, open, "answer and end update the run", func(t *testing.T, b suite) {
		run := b.ask("", "q")
		b.mustAppend(run.ID, chat.Answer{Markdown: "Because [1].", Tokens: chat.Tokens{In: 10, Out: 20}})
		got := b.mustRun(run.ID)
		if got.Answer != "Because [1]." || got.Tokens != (chat.Tokens{In: 10, Out: 20}) ||
			got.Status != chat.RunRunning || !got.EndedAt.IsZero() {
			t.Errorf("session after the answer = %+v", got)
		}
		events := b.mustAppend(
			run.ID, chat.RunDone{Status: chat.RunGuardrailTriggered, Tokens: &chat.Tokens{In: 30, Out: 40}},
		)
		if got = b.mustRun(run.ID); got.Tokens != (chat.Tokens{In: 30, Out: 40}) {
			t.Errorf("after the end: %+v, want the tokens of the end", got.Tokens)
		}
		if got = b.mustRun(run.ID); got.Status != chat.RunGuardrailTriggered || !got.EndedAt.Equal(events[0].At) {
			t.Errorf(
				"after the end: status %s, ended %v; want %s, %v", got.Status, got.EndedAt, chat.RunGuardrailTriggered,
				events[0].At,
			)
		}
	})
	parallel(t, open, "runs of a session are oldest first", func(t *testing.T, b suite) {
		first := b.ask("s", "one")
		second := b.ask("s", "two")
		b.ask("other", "three")
		runs, err := b.Runs(t.Context(), anna, "s")
		if err != nil {
			t.Fatalf("Runs: %v", err)
		}
		if diff := cmp.Diff([]chat.Run{first, second}, runs); diff != "" {
			t.Errorf("Runs (-want +got):\n%s", diff)
		}
	})
}
