package agent

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// thenNothing gives its replies and hangs after the last.
func thenNothing(replies ...scripted.Reply) llm.Model {
	told := scripted.New(replies...)
	return relay{func(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
		if len(told.Requests()) < len(replies) {
			return told.Stream(ctx, req)
		}
		return hanging{text: "There"}.Stream(ctx, req)
	}}
}

// The same run, in one piece and handed from server to server after each turn, spends the same.
func TestARunThatIsTakenOverHasSpentWhatItSpentBefore(t *testing.T) {
	t.Parallel()
	web := call("web_search", `{"query":"slate roof"}`)
	read := call("read_document", `{"doc_id":"no such document"}`)
	deny := func(h *house, r *Runs, runID, id string) error { return r.Deny(h.Context(), chat.Local, runID, id) }
	edit := func(h *house, r *Runs, runID, id string) error {
		return r.Approve(h.Context(), chat.Local, runID, id, []byte(`{"query":"slate roof Wales"}`))
	}
	for _, tt := range []struct {
		name   string
		turns  []scripted.Reply
		decide func(h *house, r *Runs, runID, id string) error
	}{
		{name: "arguments that do not fit", turns: []scripted.Reply{
			calls(call("search_documents", `{"words":"holiday"}`)), calls(search("holiday"), call("fly", `{}`)),
		}},
		{name: "refused by its tool", turns: []scripted.Reply{
			calls(read), calls(read), calls(search("holiday"), read),
		}},
		{name: "the same again and again", turns: []scripted.Reply{
			calls(search("holiday"), search("holiday"), search("holiday")), calls(search("holiday")),
			calls(search("leave")),
		}},
		{name: "more than the budget", turns: []scripted.Reply{
			calls(search("holiday"), search("leave"), search("days")), calls(search("year"), search("paid")),
		}},
		{name: "denied", turns: []scripted.Reply{calls(web, search("holiday")), calls(web), calls(web)}, decide: deny},
		{name: "edited", turns: []scripted.Reply{
			calls(search("holiday")), calls(web), calls(web), calls(web),
		}, decide: edit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := newInternet(t)
			budget := func(c *Config) { c.Budget.RetrievalCalls = 4 }
			request := onTheWeb("How many days of holiday are there?")

			// decided answers each call that waits, until done holds for an event of the log.
			seen := map[string]bool{}
			decided := func(h *house, r *Runs, runID string, done func(chat.Payload) bool) transcript {
				t.Helper()
				for {
					var waits string
					log := h.follow(runID, func(p chat.Payload) bool {
						s, ok := p.(chat.Step)
						if ok && s.Status == chat.StatusPending && !seen[runID+s.CallID] {
							waits = s.CallID
						}
						return waits != "" || done(p)
					})
					if waits == "" {
						return transcript{h.tb, runID, log}
					}
					seen[runID+waits] = true
					if err := tt.decide(h, r, runID, waits); err != nil {
						t.Fatal(err)
					}
				}
			}

			all := append(slices.Clone(tt.turns), says(goodAnswer))
			whole := newHouse(t, scripted.New(all...), in.withWeb(true), budget)
			want := decided(whole, whole.runs, whole.ask(request).ID, isDone)

			h := newHouse(t, thenNothing(tt.turns[0]), in.withWeb(true), budget, among("0"))
			run := h.ask(request)
			server := h.runs
			for i := range tt.turns {
				left := 0
				decided(h, server, run.ID, func(p chat.Payload) bool {
					if p.Kind() == chat.KindRunStarted {
						left = 0
					}
					if isStep("takeover")(p) {
						left++
					}
					return left == i && isDelta(p)
				})
				next := thenNothing(tt.turns[min(i+1, len(tt.turns)-1)])
				if i+1 == len(tt.turns) {
					next = scripted.New(says(goodAnswer))
				}
				after := h.another(fmt.Sprint(i+1), next, in.withWeb(true), budget)
				h.works(after)
				if err := server.Stop(t.Context()); err != nil {
					t.Fatal(err)
				}
				server = after
			}
			got := decided(h, server, run.ID, isDone)

			if g, w := spent(got), spent(want); !slices.Equal(g, w) {
				t.Errorf("handed over, it spent\n%q\nwant\n%q", g, w)
			}
		})
	}
}

// spent is what became of each call of a run, and the run's budgets at its end.
func spent(t transcript) []string {
	var out []string
	for _, s := range t.ended() {
		if s.ToolName != "" {
			out = append(out, fmt.Sprintf("%s %s %s", s.ToolName, s.ToolInput, s.Status))
		}
	}
	return append(out, fmt.Sprintf("%d turns, %d retrieval calls", t.answer().StepsUsed, t.done().RetrievalCalls))
}
