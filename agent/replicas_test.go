package agent

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// among makes an agent one of several on the same store.
func among(name string) func(*Config) {
	return func(c *Config) { c.Exclusive, c.Owner = false, name }
}

// another hires one more server on the house's store. The house goes on with the first.
func (h *house) another(name string, model llm.Model, change ...func(*Config)) *Runs {
	h.Helper()
	first := h.runs
	h.hire(model, append(change, among(name))...)
	second := h.runs
	h.runs = first
	return second
}

// works lets servers do their background work until the test ends. What one of them stores wakes the others, as a
// database would.
func (h *house) works(servers ...*Runs) {
	h.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(h.Context()))
	var wg sync.WaitGroup
	for _, r := range servers {
		wg.Go(func() { r.KeepLeases(ctx) })
	}
	wg.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				for _, r := range servers {
					r.Look()
				}
			}
		}
	})
	h.Cleanup(wg.Wait)
	h.Cleanup(stop)
}

// dies ends a run's goroutine as a kill would: it says nothing more. Its lease is over.
func (h *house) dies(r *Runs, runID string) {
	h.Helper()
	r.mu.Lock()
	c := r.active[runID]
	r.mu.Unlock()
	c.Lose()
	r.wg.Wait()
	if err := h.store.Release(h.Context(), r.cfg.Owner, runID); err != nil {
		h.Fatal(err)
	}
}

func script(replies ...scripted.Reply) func() llm.Model {
	return func() llm.Model { return scripted.New(replies...) }
}

func isStep(name string) func(chat.Payload) bool {
	return func(p chat.Payload) bool { s, ok := p.(chat.Step); return ok && s.Step == name }
}

// rests waits until a server works on nothing: a run's last event is stored a moment before its server is done with it.
func (h *house) rests(r *Runs) {
	h.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(20 * time.Second)
	for {
		r.mu.Lock()
		working := len(r.active)
		r.mu.Unlock()
		if working == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-limit:
			h.Fatalf("%d runs are still worked on", working)
		}
	}
}

func TestACommandReachesTheServerThatWorksOnTheRun(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	for _, row := range []struct {
		name    string
		model   func() llm.Model
		waits   bool
		command func(r *Runs, run, call string) error
		check   func(*house, transcript)
	}{
		{"cancel", func() llm.Model { return hanging{} }, false,
			func(r *Runs, run, _ string) error { return r.Cancel(t.Context(), chat.Local, run) },
			func(h *house, got transcript) {
				if d := got.done(); d.Status != chat.RunCancelled {
					h.Errorf("done = %+v", d)
				}
			}},
		{"answer now", thenHangs, false,
			func(r *Runs, run, _ string) error { return r.AnswerNow(t.Context(), chat.Local, run) },
			func(h *house, got transcript) {
				if a := got.answer(); a.StopReason != chat.StopAnswerNow || len(a.Citations) != 1 {
					h.Errorf("answer = %+v", a)
				}
			}},
		{"approve", script(webCall(), says(slateAnswer)), true,
			func(r *Runs, run, call string) error { return r.Approve(t.Context(), chat.Local, run, call, nil) },
			func(h *house, got transcript) {
				if s := got.step("web_search"); s.Status != chat.StatusComplete || s.Details["proposed"] != nil {
					h.Errorf("step = %+v", s)
				}
			}},
		{"edit", script(webCall(), says(slateAnswer)), true, func(r *Runs, run, call string) error {
			return r.Approve(t.Context(), chat.Local, run, call, json.RawMessage(`{"query":" slate roof Wales "}`))
		}, func(h *house, got transcript) {
			if s := got.step("web_search"); s.Status != chat.StatusComplete ||
				!strings.Contains(string(s.ToolInput), `"slate roof Wales"`) {
				h.Errorf("step = %+v %s", s, s.ToolInput)
			}
		}},
		{"deny", script(webCall(), says("I could not look.")), true,
			func(r *Runs, run, call string) error { return r.Deny(t.Context(), chat.Local, run, call) },
			func(h *house, got transcript) {
				if s := got.step("web_search"); s.Status != chat.StatusSkipped || s.Summary != "denied by you" {
					h.Errorf("step = %+v", s)
				}
			}},
	} {
		for _, dies := range []bool{false, true} {
			t.Run(map[bool]string{false: row.name, true: row.name + ", its server dies first"}[dies],
				func(t *testing.T) {
					t.Parallel()
					model := row.model()
					h := newHouse(t, model, in.withWeb(true), among("one"))
					two := h.another("two", model, in.withWeb(true))
					var run chat.Run
					call := ""
					if row.waits {
						run, call = h.waits()
					} else {
						run = h.ask(asks("How many days of holiday are there?"))
						h.follow(run.ID, func(p chat.Payload) bool {
							return p.Kind() == chat.KindRunStarted && row.name == "cancel" || isSearched(p)
						})
					}
					if err := row.command(two, run.ID, call); err != nil {
						t.Fatal(err)
					}
					if dies { // without having looked
						h.dies(h.runs, run.ID)
						if err := two.takeOver(t.Context(), time.Now()); err != nil {
							t.Fatal(err)
						}
						two.applyCommands(t.Context()) // once, before the call waits again
					} else {
						h.works(h.runs)
					}
					got := h.wait(run.ID)
					row.check(h, got)
					h.rests(h.runs)
					h.rests(two)
					if err := row.command(two, run.ID, call); chat.CodeOf(orEmpty(err)) != chat.CodeConflict {
						t.Errorf("after the end: %v", err)
					}
				})
		}
	}
}

func TestAnotherServerRefusesWhatTheOwnOneWould(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(
		t, scripted.New(calls(search("holiday"), call("web_search", `{"query":"slate roof"}`)), says(slateAnswer)),
		in.withWeb(true), among("one"),
	)
	two := h.another("two", scripted.New(), in.withWeb(true))
	run, id := h.waits()
	searched := ""
	for _, p := range h.follow(run.ID, isSearched) {
		if isSearched(p) {
			searched = p.(chat.Step).CallID
		}
	}
	stranger := chat.Scope{User: "mallory"}
	for _, row := range []struct {
		what string
		err  error
		want chat.Code
	}{
		{"a stranger's decision", two.Deny(t.Context(), stranger, run.ID, id), chat.CodeNotFound},
		{"a stranger's Cancel", two.Cancel(t.Context(), stranger, run.ID), chat.CodeNotFound},
		{"a step that is not there", two.Approve(t.Context(), chat.Local, run.ID, "c99", nil), chat.CodeNotFound},
		{"a step that never waited", two.Approve(t.Context(), chat.Local, run.ID, searched, nil), chat.CodeNotFound},
		{"an input that does not fit", two.Approve(t.Context(), chat.Local, run.ID, id, json.RawMessage(`{"query":7}`)),
			chat.CodeInvalid},
	} {
		if chat.CodeOf(orEmpty(row.err)) != row.want {
			t.Errorf("%s: %v, want %s", row.what, row.err, row.want)
		}
	}
	// the first of two decisions counts, wherever they arrive
	if err := two.Deny(t.Context(), chat.Local, run.ID, id); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Runs{"its own server": h.runs, "the other": two} {
		if err := r.Approve(t.Context(), chat.Local, run.ID, id, nil); chat.CodeOf(orEmpty(err)) != chat.CodeConflict {
			t.Errorf("a second decision at %s: %v", name, err)
		}
	}
	h.works(h.runs)
	if s := h.wait(run.ID).step("web_search"); s.Status != chat.StatusSkipped || in.searches.Load() != 0 {
		t.Errorf("step = %+v, %d searches; want Status %v and 0", s, in.searches.Load(), chat.StatusSkipped)
	}
}

// What was decided at a run's own server, or wanted from it, is not lost with it.
func TestACommandOutlivesTheServerThatItReached(t *testing.T) {
	t.Parallel()
	h := newHouse(t, thenHangs(), among("one"))
	two := h.another("two", hanging{}) // answers when it has to
	asked := h.ask(asks("How many days of holiday are there?"))
	h.follow(asked.ID, isSearched)
	h.runs.mu.Lock()
	working := h.runs.active[asked.ID]
	_, h.runs.active[asked.ID] = run.NewControl(t.Context(), chat.LocalUser) // the run dies before it acts
	h.runs.mu.Unlock()
	if err := h.runs.AnswerNow(t.Context(), chat.Local, asked.ID); err != nil {
		t.Fatal(err)
	}
	h.runs.mu.Lock()
	h.runs.active[asked.ID] = working
	h.runs.mu.Unlock()
	h.dies(h.runs, asked.ID)
	h.works(two)
	if a := h.wait(asked.ID).answer(); a.StopReason != chat.StopAnswerNow {
		t.Errorf("answer = %+v, want StopReason %v", a, chat.StopAnswerNow)
	}
}

// waitFor looks until ok.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	late := time.After(20 * time.Second)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("waited in vain")
		}
	}
}
