package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
)

// faulty is a library whose searches do as they are told.
type faulty struct {
	tools.Library
	search func(context.Context) error
}

func (f faulty) Search(ctx context.Context, s chat.Scope, q corpus.Query) (corpus.Results, error) {
	if err := f.search(ctx); err != nil {
		return corpus.Results{}, err
	}
	return f.Library.Search(ctx, s, q)
}

func untilStopped(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestAToolThatFailsIsAnObservation(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	for _, tt := range []struct {
		name   string
		search func(context.Context) error
		limit  time.Duration // for the tool that reads too, which succeeds
		code   chat.Code
		says   string
	}{
		{"by an error", func(context.Context) error { return errors.New("secret: disk on fire") }, time.Minute,
			chat.CodeInternal, "Something went wrong"},
		{"by taking too long", untilStopped, 3 * time.Second, chat.CodeTimeout, "longer than"},
		{"by a panic", func(context.Context) error { panic("a bug") }, time.Minute, chat.CodeInternal,
			"Go on without it"},
	} {
		fails := func(c *Config) { c.Library, c.ToolTimeout = faulty{h.library, tt.search}, tt.limit }
		h.hire(
			scripted.New(calls(search("holiday")), calls(call("read_document", `{"doc_id":"Handbook.md"}`)),
				says(goodAnswer)), fails,
		)
		got := h.answer(asks("How many days of holiday are there?"))
		if a := got.answer(); len(a.Citations) != 1 {
			t.Errorf("%s: answer = %+v, want 1 citation", tt.name, a)
		}
		s := got.step("search_documents")
		if s.Status != chat.StatusError || s.Error.Code != tt.code ||
			!strings.Contains(string(s.ToolOutput), tt.says) || strings.Contains(dump(got.log), "secret") {
			t.Errorf("%s: step = %+v, %s; want Status %v and Error.Code %v",
				tt.name, s, s.ToolOutput, chat.StatusError, tt.code)
		}
	}
}

func TestASlowCallIsShownWhileItRunsAndStopsWithItsRun(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	isRunning := func(p chat.Payload) bool {
		s, ok := p.(chat.Step)
		return ok && s.ToolName == "search_documents" && s.Status == chat.StatusRunning
	}
	var stopped sync.WaitGroup
	slow := func(c *Config) {
		c.Library = faulty{
			h.library, func(ctx context.Context) error { defer stopped.Done(); return untilStopped(ctx) },
		}
	}
	stopped.Add(2)
	h.hire(scripted.New(calls(search("holiday"), search("leave"))), slow)
	run := h.ask(asks("How many days of holiday are there?"))
	h.follow(run.ID, isRunning)
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	stopped.Wait()
	if got.done().Status != chat.RunCancelled {
		t.Errorf("done = %+v, want Status %v", got.done(), chat.RunCancelled)
	}
	for _, s := range got.ended() {
		if s.Status == chat.StatusRunning || s.ToolName != "" && s.Status != chat.StatusCancelled {
			t.Errorf("step %s was left %s, want other than %s", s.Step, s.Status, chat.StatusRunning)
		}
	}
	stopped.Add(1)
	h.hire(scripted.New(calls(search("holiday")), says("I could not look it up.")), slow)
	run = h.ask(asks("How many days of holiday are there?"))
	h.follow(run.ID, isRunning)
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	got = h.wait(run.ID)
	if s := got.step("search_documents"); s.Status != chat.StatusCancelled ||
		got.answer().StopReason != chat.StopRefused {
		t.Errorf("step = %+v, answer = %+v; want Status %v and StopReason %v",
			s, got.answer(), chat.StatusCancelled, chat.StopRefused)
	}
}

func TestCallsThatWaitForAFreePlaceAreShownMeanwhile(t *testing.T) {
	t.Parallel()
	const most = 9 // one more than run at the same time
	h := newHouse(t, scripted.New())
	asked := make([]llm.Call, most)
	for i := range asked {
		asked[i] = search(fmt.Sprintf("holiday %d", i))
	}
	h.hire(scripted.New(calls(asked...)), func(c *Config) { c.Library = faulty{h.library, untilStopped} })
	run := h.ask(asks("How many days of holiday are there?"))
	running := map[string]bool{}
	h.follow(run.ID, func(p chat.Payload) bool {
		if s, ok := p.(chat.Step); ok && s.ToolName == "search_documents" && s.Status == chat.StatusRunning {
			running[s.CallID] = true
		}
		return len(running) == most || isDone(p)
	})
	if len(running) != most {
		t.Errorf("%d calls were shown as running, want %d", len(running), most)
	}
	if err := h.runs.Cancel(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	if got := h.wait(run.ID).done(); got.Status != chat.RunCancelled {
		t.Errorf("run ended %s, want %s", got.Status, chat.RunCancelled)
	}
}

func TestParallelCallsOverlap(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	var both sync.WaitGroup
	both.Add(2)
	meet := func(ctx context.Context) error { // each waits until the other has begun
		both.Done()
		met := make(chan struct{})
		go func() { both.Wait(); close(met) }()
		select {
		case <-met:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	h.hire(scripted.New(calls(search("holiday"), search("leave")), says(goodAnswer)),
		func(c *Config) { c.Library = faulty{h.library, meet} })
	for _, s := range h.answer(asks("How many days of holiday are there?")).ended() {
		if s.ToolName != "" && s.Status != chat.StatusComplete {
			t.Errorf("step = %+v", s)
		}
	}
}

func TestARunWhoseLeaseWasLostSaysNothingMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	h.hire(hanging{text: "There"}, func(c *Config) { c.Exclusive, c.Lease = false, 300*time.Millisecond })
	run := h.ask(asks("Wait"))
	h.follow(run.ID, isDelta)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	other := chat.Lease{Owner: "other", Until: time.Now().Add(time.Hour)}
	if taken, err := h.store.TakeOver(ctx, other, time.Now().Add(time.Hour)); err != nil || len(taken) != 1 {
		t.Fatalf("TakeOver = %v, %v; want 1", taken, err)
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.runs.KeepLeases(ctx) })
	for held := true; held; {
		h.runs.mu.Lock()
		_, held = h.runs.active[run.ID]
		h.runs.mu.Unlock()
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the run was never let go")
		}
	}
	stop()
	wg.Wait()
	for _, p := range h.log(run.ID) {
		if isDone(p) {
			t.Errorf("run_done by a server that has lost the run:%s", dump(h.log(run.ID)))
		}
	}
}
