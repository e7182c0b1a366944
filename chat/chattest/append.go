package chattest

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// testAppend checks that a log is numbered without gaps whoever appends, that an append is stored as a whole or not at
// all, and that nothing comes behind a run's end. The concurrent cases are what a store without a lock on the run's row
// fails.
func testAppend(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "events are numbered from 1 and come back as appended", func(t *testing.T, b bench) {
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
	parallel(t, open, "concurrent appends are numbered without gaps", func(t *testing.T, b bench) {
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
	parallel(t, open, "runs don't share numbers", func(t *testing.T, b bench) {
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
	parallel(t, open, "nothing follows the end of a run", func(t *testing.T, b bench) {
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
	parallel(t, open, "of many ends one wins", func(t *testing.T, b bench) {
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
	parallel(t, open, "a failed append leaves nothing", func(t *testing.T, b bench) {
		run := b.ask("", "q")
		_, err := b.Append(t.Context(), owner, run.ID, chat.AnswerDelta{Text: "x"}, chat.Reset{})
		wantCode(t, "a reset", err, chat.CodeInvalid)
		_, err = b.Append(
			t.Context(), owner, run.ID, chat.AnswerDelta{Text: "x"}, chat.Step{Details: map[string]any{"f": func() {}}},
		)
		if err == nil {
			t.Error("a payload that is no JSON was stored")
		}
		if got := b.mustEvents(run.ID, 0, 0); len(got) != 0 {
			t.Errorf("%d events, want none", len(got))
		}
	})
	parallel(t, open, "an append needs the lease and a run", func(t *testing.T, b bench) {
		run := b.ask("", "q")
		_, err := b.Append(t.Context(), "server-2", run.ID, deltas(1)...)
		wantCode(t, "another server", err, chat.CodeConflict)
		_, err = b.Append(t.Context(), owner, chat.NewID(), deltas(1)...)
		wantCode(t, "an unknown run", err, chat.CodeNotFound)
	})
	parallel(t, open, "an append of nothing stores nothing", func(t *testing.T, b bench) {
		run := b.ask("", "q")
		if events := b.mustAppend(run.ID); len(events) != 0 || len(b.mustEvents(run.ID, 0, 0)) != 0 {
			t.Error("there are events")
		}
	})
	parallel(t, open, "the whole output of a cut step is kept beside the log", func(t *testing.T, b bench) {
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
