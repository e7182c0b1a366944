package agent

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

const slateAnswer = "A slate roof lasts for about a hundred years [1]."

func isWaiting(p chat.Payload) bool {
	s, ok := p.(chat.Step)
	return ok && s.ToolName == "web_search" && s.Status == chat.StatusPending
}

// waits asks a question whose search has to be approved, and returns the run and the step that waits.
func (h *house) waits() (chat.Run, string) {
	h.Helper()
	run := h.ask(onTheWeb("How long does a slate roof last?"))
	for _, p := range h.follow(run.ID, isWaiting) {
		if isWaiting(p) {
			return run, p.(chat.Step).CallID
		}
	}
	return run, ""
}

func webCall() scripted.Reply { return calls(call("web_search", `{"query":"slate roof"}`)) }

func TestACallWaitsUntilItIsApproved(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(webCall(), says(slateAnswer)), in.withWeb(true))
	run, id := h.waits()
	if in.searches.Load() != 0 {
		t.Error("the call ran before it was approved")
	}
	other := chat.Scope{User: "mallory"}
	for what, err := range map[string]error{
		"Approve": h.runs.Approve(t.Context(), other, run.ID, id, nil), "Deny": h.runs.Deny(t.Context(), other,
			run.ID, id),
	} {
		if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("%s by another user = %v, want %v", what, err, chat.CodeNotFound)
		}
	}
	if err := h.runs.Approve(t.Context(), chat.Local, run.ID, "c99",
		nil); chat.CodeOf(orEmpty(err)) != chat.CodeNotFound {
		t.Errorf("an unknown step = %v", err)
	}
	if err := h.runs.Approve(t.Context(), chat.Local, run.ID, id,
		json.RawMessage(`{"query":7}`)); chat.CodeOf(orEmpty(err)) != chat.CodeInvalid {
		t.Errorf("an input that does not fit = %v", err)
	}
	if err := h.runs.Approve(t.Context(), chat.Local, run.ID, id, nil); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	if err := h.runs.Deny(t.Context(), chat.Local, run.ID, id); chat.CodeOf(orEmpty(err)) != chat.CodeConflict {
		t.Errorf("a decision after the end = %v", err)
	}
	if s := got.step("web_search"); s.Status != chat.StatusComplete || len(got.answer().Citations) != 1 {
		t.Errorf("step = %+v, want Status %v", s, chat.StatusComplete)
	}
	var states []chat.Status
	for _, s := range all[chat.Step](got) {
		if s.CallID == id {
			states = append(states, s.Status)
		}
	}
	if len(states) != 3 || states[0] != chat.StatusPending || states[1] != chat.StatusRunning {
		t.Errorf("states = %v; want 3 states, %v, %v", states, chat.StatusPending, chat.StatusRunning)
	}
}

func TestAnEditedInputIsWhatRunsAndTheModelIsTold(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	model := scripted.New(webCall(), says(slateAnswer))
	h := newHouse(t, model, in.withWeb(true))
	run, id := h.waits()
	if err := h.runs.Approve(t.Context(), chat.Local, run.ID, id,
		json.RawMessage(`{"query":"slate roof Wales","max_results":1}`)); err != nil {
		t.Fatal(err)
	}
	s := h.wait(run.ID).step("web_search")
	if !strings.Contains(string(s.ToolInput), "Wales") || s.Status != chat.StatusComplete ||
		!strings.Contains(s.Message, "Found 1 page") {
		t.Errorf("step = %+v %s; want Status %v and %q in it", s, s.ToolInput, chat.StatusComplete, "Found 1 page")
	}
	requests := model.Requests()
	last := requests[len(requests)-1].Messages
	if text := last[len(last)-1].Text; !strings.Contains(text, "The user changed the input") ||
		!strings.Contains(text, "Wales") {
		t.Errorf("the model was told %s; want %q in it and %q in it", text, "The user changed the input", "Wales")
	}
}

func TestADeniedCallIsAnObservation(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(calls(call("web_search", `{"query":"slate"}`), search("holiday")), says(goodAnswer)),
		in.withWeb(true))
	run := h.ask(onTheWeb("How many days of holiday are there?"))
	var id string
	for _, p := range h.follow(run.ID, isWaiting) {
		if isWaiting(p) {
			id = p.(chat.Step).CallID
		}
	}
	if err := h.runs.Deny(t.Context(), chat.Local, run.ID, id); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	if s := got.step("web_search"); s.Status != chat.StatusSkipped ||
		!strings.Contains(string(s.ToolOutput), "The user denied this call") || in.searches.Load() != 0 {
		t.Errorf("step = %+v %s, %d searches; want Status %v and 0",
			s, s.ToolOutput, in.searches.Load(), chat.StatusSkipped)
	}
	if a := got.answer(); len(a.Citations) != 1 {
		t.Errorf("answer = %+v, want 1 citation", a)
	}
}

func TestACallThatNobodyDecidesEndsWithItsRun(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(webCall(), says("I could not look.")), in.withWeb(true))
	run, id := h.waits()
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.runs.Approve(t.Context(), chat.Local, run.ID, id, nil); chat.CodeOf(orEmpty(err)) != chat.CodeConflict {
		t.Errorf("Approve after Cancel = %v", err)
	}
	got := h.wait(run.ID)
	if s := got.step("web_search"); s.Status != chat.StatusCancelled || got.done().Status != chat.RunCancelled {
		t.Errorf("step = %+v, want Status %v", s, chat.StatusCancelled)
	}
	h.hire(scripted.New(webCall(), says("I could not look.")), in.withWeb(true),
		func(c *Config) { c.Budget.Seconds = 1 })
	got = h.answer(onTheWeb("How long does a slate roof last?"))
	if s := got.step("web_search"); s.Status != chat.StatusSkipped ||
		!strings.Contains(string(s.ToolOutput), "in time") || got.done().Status != chat.RunCompleted {
		t.Errorf("step = %+v, done = %+v; want Status %v and Status %v",
			s, got.done(), chat.StatusSkipped, chat.RunCompleted)
	}
	if in.searches.Load() != 0 {
		t.Error("a call ran that nobody approved")
	}
}

func TestACallGoesOnWaitingAfterARestart(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(calls(call("web_search", `{"query":"slate roof"}`), search("holiday"))),
		in.withWeb(true))
	run, id := h.waits()
	h.follow(run.ID, func(p chat.Payload) bool {
		s, ok := p.(chat.Step)
		return ok && s.ToolName == "search_documents" && s.Status == chat.StatusComplete
	})
	h.die(run.ID)
	h.hire(scripted.New(says(goodAnswer)), in.withWeb(true))
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { h.runs.KeepLeases(ctx) })
	h.follow(run.ID, func(p chat.Payload) bool { s, ok := p.(chat.Step); return ok && s.Step == "restart" })
	seen := 0
	h.follow(run.ID, func(p chat.Payload) bool {
		switch {
		case p.Kind() == chat.KindRunStarted: // the log from its beginning
			seen = 0
		case isWaiting(p):
			seen++
		}
		return seen > 1
	})
	if err := h.runs.Approve(t.Context(), chat.Local, run.ID, id, nil); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	if s := got.step("web_search"); s.Status != chat.StatusComplete || s.CallID != id || in.searches.Load() != 1 ||
		got.done().Status != chat.RunCompleted {
		t.Errorf("step = %+v, %d searches, done = %+v; want Status %v, CallID %v, 1, Status %v",
			s, in.searches.Load(), got.done(), chat.StatusComplete, id, chat.RunCompleted)
	}
	stop()
	wg.Wait()
}
