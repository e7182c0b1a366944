package agent

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/chat"
)

// A process dies while one call of a turn waits for a person and the next one has its result. Whoever carries the run
// on hears of the first call last: for a strict provider, a result without its call and a call without its result.
func TestAProviderGetsAWholeHistoryAfterARestart(t *testing.T) {
	t.Parallel()
	both := wired{
		body: events(toolCalls(
			`{"index":0,"id":"w1","function":{"name":"web_search","arguments":"{\"query\":\"slate roof\"}"}}`,
		),
			toolCalls(
				`{"index":1,"id":"s1","function":{"name":"search_documents","arguments":"{\"query\":\"holiday\"}"}}`,
			),
			ends("tool_calls"), theEnd),
	}
	for _, way := range []struct {
		name string
		step int // bytes
	}{{"whole", 1 << 20}, {"a byte at a time", 1}} {
		t.Run("43: a history with orphans, "+way.name, func(t *testing.T) {
			t.Parallel()
			in := newInternet(t)
			remote, asked := provider(t, way.step, both, answers)
			model := textcalls.New(remote, textcalls.Auto)
			h := newHouse(t, model, in.withWeb(true))
			run, id := h.waits()
			h.follow(run.ID, func(p chat.Payload) bool {
				s, ok := p.(chat.Step)
				return ok && s.ToolName == "search_documents" && s.Status == chat.StatusComplete
			})
			h.die(run.ID)
			h.hire(model, in.withWeb(true), withFallback)
			ctx, stop := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			wg.Go(func() { h.runs.KeepLeases(ctx) })
			h.follow(run.ID, func(p chat.Payload) bool { s, ok := p.(chat.Step); return ok && s.Step == "restart" })
			waits := func() (n int) {
				for _, p := range h.log(run.ID) {
					if isWaiting(p) {
						n++
					}
				}
				return n
			}
			h.follow(run.ID, func(chat.Payload) bool { return waits() > 1 })
			if err := h.runs.Deny(t.Context(), chat.Local, run.ID, id); err != nil {
				t.Fatal(err)
			}
			got := h.wait(run.ID)
			stop()
			wg.Wait()
			if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 || asked.Load() != 2 {
				t.Errorf("answer %q with %d citations after %d requests:%s; want %q, 1 citation, 2",
					a.Markdown, len(a.Citations), asked.Load(), dump(got.log), goodAnswer)
			}
			for _, s := range got.ended() {
				if s.Step == "fallback" || s.ToolName == "search_documents" && s.Status != chat.StatusComplete ||
					s.ToolName == "web_search" && s.Status == chat.StatusRunning {
					t.Errorf("step %s ended as %s: %s, want other than %q", s.Step, s.Status, s.Message, "fallback")
				}
			}
			if strings.Contains(got.text(), "result") {
				t.Errorf("the user sees %q, want no %q in it", got.text(), "result")
			}
			h.checkStored(got)
		})
	}
}
