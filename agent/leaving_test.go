package agent

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestAStoppedServerLeavesItsRunsToTheOthers(t *testing.T) {
	t.Parallel()
	var searches atomic.Int64
	begun, free := make(chan struct{}), make(chan struct{})
	h := newHouse(t, scripted.New())
	slowly := func(c *Config) {
		c.Library = faulty{h.library, func(ctx context.Context) error {
			if searches.Add(1) == 1 {
				close(begun)
				select {
				case <-free:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}}
	}
	h.hire(scripted.New(calls(search("holiday"))), slowly, among("one"))
	two := h.another("two", hanging{text: "There"}, slowly)
	run := h.ask(asks("How many days of holiday are there?"))
	<-begun
	stopped := make(chan error, 1)
	go func() { stopped <- h.runs.Stop(context.WithoutCancel(t.Context())) }()
	waitFor(t, func() bool { h.runs.mu.Lock(); defer h.runs.mu.Unlock(); return h.runs.stopping })
	h.works(h.runs, two)
	close(free) // a call that is under way ends, and counts
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	h.follow(run.ID, isDelta)

	// a text that was begun is taken back, again and again: a stop is no crash
	servers := []*Runs{
		two, h.another("three", hanging{text: "There are"}), h.another("four", hanging{text: "There"}),
		h.another("five", scripted.New(says(goodAnswer))),
	}
	for i, r := range servers[:3] {
		h.works(servers[i+1])
		if err := r.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := 0
		h.follow(run.ID, func(p chat.Payload) bool {
			switch {
			case p.Kind() == chat.KindRunStarted:
				left = 0
			case isStep("takeover")(p):
				left++
			}
			return left == i+2 && (i == 2 || isDelta(p))
		})
	}
	got := h.wait(run.ID)
	if a := got.answer(); a.Markdown != goodAnswer || got.text() != goodAnswer {
		t.Errorf("answer %q, shown %q; want %q and %q", a.Markdown, got.text(), goodAnswer, goodAnswer)
	}
	if n := searches.Load(); n != 1 {
		t.Errorf("it searched %d times, want 1", n)
	}
	if s := got.step("search_documents"); s.Status != chat.StatusComplete {
		t.Errorf("the call that was under way: %+v, want Status %v", s, chat.StatusComplete)
	}
	for name, want := range map[string]int{"handover": 4, "takeover": 4, "restart": 0} {
		n := 0
		for _, s := range all[chat.Step](got) {
			if s.Step == name {
				n++
			}
		}
		if n != want {
			t.Errorf("%d steps %s, want %d", n, name, want)
		}
	}
}

func TestAServerThatStopsLeavesWaitingCallsAndThoseThatDoNotEnd(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(calls(search("holiday"), call("web_search", `{"query":"slate roof"}`))),
		in.withWeb(true), among("one"))
	two := h.another("two", scripted.New(says(slateAnswer)), in.withWeb(true))
	run, id := h.waits()
	if err := h.runs.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := two.Approve(t.Context(), chat.Local, run.ID, id, nil); err != nil { // nobody works on it at the moment
		t.Fatal(err)
	}
	h.works(two)
	got := h.wait(run.ID)
	if s := got.step("web_search"); s.Status != chat.StatusComplete || s.CallID != id || in.searches.Load() != 1 {
		t.Errorf("step = %+v, %d searches; want Status %v, CallID %v, 1",
			s, in.searches.Load(), chat.StatusComplete, id)
	}
	if i := slices.IndexFunc(got.ended(), func(s chat.Step) bool { return s.Step == "takeover" }); i < 0 {
		t.Errorf("nobody took it over: got %v, want at least 0", i)
	}
}

func TestAStopIsNoCrash(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(calls(search("holiday")), says(goodAnswer)), among("one"))
	run, _, err := h.store.StartRun(t.Context(), chat.LocalUser, asks("How many days of holiday are there?"),
		chat.Lease{Owner: "stopped"})
	if err != nil {
		t.Fatal(err)
	}
	log := []chat.Payload{chat.RunStarted{}}
	for i, name := range []string{"restart", "restart", "handover"} {
		log = append(log, chat.Step{
			CallID: "c" + strconv.Itoa(i+1), Step: name, Status: chat.StatusComplete, ToolStatus: chat.StatusComplete,
			Details: map[string]any{},
		})
	}
	if err := h.feed.Append(t.Context(), "stopped", run.ID, log...); err != nil {
		t.Fatal(err)
	}
	h.works(h.runs)
	if a := h.wait(run.ID).answer(); a.Markdown != goodAnswer {
		t.Errorf("answer = %+v, want Markdown %v", a, goodAnswer)
	}
}
