package agent

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/textcalls"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// asText makes a model call its tools by JSON in its replies.
func asText(c *Config) { c.Model = textcalls.New(c.Model, textcalls.JSON) }

func pending(tool string) func(chat.Payload) bool {
	return func(p chat.Payload) bool {
		s, ok := p.(chat.Step)
		return ok && s.ToolName == tool && s.Status == chat.StatusPending
	}
}

// deny asks a question, denies the first call of a tool, and waits for the run's end.
func (h *house) deny(req chat.RunRequest, tool string) transcript {
	h.Helper()
	run := h.ask(req)
	events := h.follow(run.ID, pending(tool))
	if err := h.runs.Deny(h.Context(), chat.Local, run.ID, events[len(events)-1].(chat.Step).CallID); err != nil {
		h.Fatal(err)
	}
	return h.wait(run.ID)
}

func TestAnActionThatWasDeniedIsSaidNotToBeDone(t *testing.T) {
	t.Parallel()
	const want = "“Calling shop: order” was not done, because you denied it."
	for _, tt := range []struct {
		name   string
		first  scripted.Reply
		second string
		like   []func(*Config)
	}{
		{"by a model's own tool call", orders("slates"), "I am sorry, that was not possible.", nil},
		{"when the model says that it was done", orders("slates"), "The slates are ordered.", nil},
		{"when the model makes up a footnote", orders("slates"), "The slates are ordered [1].", nil},
		{"by a call written as JSON", says(`{"tool":"shop__order","input":{"what":"slates"}}`), "Not allowed.",
			[]func(*Config){asText}},
		{"by a call and an answer written as JSON", says(`{"tool":"shop__order","input":{"what":"slates"}}`),
			`{"answer":"It was refused."}`, []func(*Config){asText}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, false)
			model := scripted.New(tt.first, says(tt.second))
			h := newHouse(t, model, append([]func(*Config){s.with}, tt.like...)...)
			got := h.deny(chat.RunRequest{Message: "How many slates can be ordered? Order them."}, "shop__order")
			a := got.answer()
			if a.Markdown != want || got.done().Status != chat.RunCompleted || a.StopReason != chat.StopAnswered {
				t.Fatalf("answer = %q, done = %+v:%s; want %q and Status %v",
					a.Markdown, got.done(), dump(got.log), want, chat.RunCompleted)
			}
			if a.Confidence != 1 || len(a.Unsupported) != 0 || len(a.Citations) != 0 ||
				a.SelfEvaluation != "The answer says only what was not done." {
				t.Errorf("answer = %+v; want Confidence 1, none, no citations, SelfEvaluation %q",
					a, "The answer says only what was not done.")
			}
			if n := len(model.Requests()); n != 2 || s.orders.Load() != 0 {
				t.Errorf("%d requests, %d orders; want 2 and 0", n, s.orders.Load())
			}
			if got.step("review").Thought == "" {
				t.Error("the model's own words are in no step")
			}
		})
	}
}

func TestDeniedCallIsNoChoiceAgainstDocuments(t *testing.T) {
	t.Parallel()
	s := newShop(t, false)
	h := newHouse(t, scripted.New(orders("slates"), says("The user denied this call.")), s.with)
	got := h.deny(chat.RunRequest{Message: `Order them, please. #call shop__order {"what":"slates"}`}, "shop__order")
	if a, want := got.answer(), "“Calling shop: order” was not done, because you denied it."; a.Markdown != want {
		t.Errorf("got the answer %q, want %q:%s", a.Markdown, want, dump(got.log))
	}
}

func TestADeniedSearchOfTheWebLeavesTheDocuments(t *testing.T) {
	t.Parallel()
	in := newInternet(t)
	h := newHouse(t, scripted.New(webCall(), says("I may not look."), calls(search("holiday")), says(goodAnswer)),
		in.withWeb(true))
	got := h.deny(onTheWeb("How many days of holiday are there?"), "web_search")
	if a := got.answer(); len(a.Citations) != 1 || !strings.HasPrefix(a.Markdown, "There are 28 days") {
		t.Errorf("answer = %+v:%s; want 1 citation and %q at its beginning", a, dump(got.log), "There are 28 days")
	}
	h.hire(scripted.New(webCall(), says("I may not look."), says("I may not look.")), in.withWeb(true))
	got = h.deny(onTheWeb("How long does a slate roof last?"), "web_search")
	if a := got.answer(); a.Markdown != "“Searching the web for: slate roof” was not done, because you denied it." {
		t.Errorf("a model that does not search the documents: answer = %+v:%s", a, dump(got.log))
	}
	h.hire(scripted.New(webCall(), calls(search("roof")), says("The roof is fine."), says("The roof is fine.")),
		in.withWeb(true))
	got = h.deny(onTheWeb("How long does a slate roof last?"), "web_search")
	if a := got.answer(); !strings.HasSuffix(a.Markdown, "because you denied it.") ||
		got.done().Status != chat.RunCompleted {
		t.Errorf("a model that gives no footnotes: answer = %+v, done = %+v:%s; want %q at its end and Status %v",
			a, got.done(), dump(got.log), "because you denied it.", chat.RunCompleted)
	}
}

func TestWhatNobodyAllowedInTimeIsSaidNotToBeDone(t *testing.T) {
	t.Parallel()
	s := newShop(t, false)
	h := newHouse(t, scripted.New(orders("slates"), says("It is ordered.")), s.with,
		func(c *Config) { c.Budget.Seconds = 1 })
	got := h.wait(h.ask(chat.RunRequest{Message: "How many slates can be ordered? Order them."}).ID)
	if a := got.answer(); a.Markdown != "“Calling shop: order” was not done: nobody approved it in time." {
		t.Errorf("answer = %+v:%s, want Markdown %q",
			a, dump(got.log), "“Calling shop: order” was not done: nobody approved it in time.")
	}
	h.hire(scripted.New(orders("slates"), says("It is ordered.")), s.with)
	run := h.ask(chat.RunRequest{Message: "How many slates can be ordered? Order them."})
	h.follow(run.ID, pending("shop__order"))
	if err := h.runs.AnswerNow(t.Context(), chat.Local, run.ID); err != nil {
		t.Fatal(err)
	}
	got = h.wait(run.ID)
	if a := got.answer(); a.Markdown !=
		"“Calling shop: order” was not done: you wanted the answer before it was approved." ||
		a.StopReason != chat.StopAnswerNow {
		t.Errorf("answer = %+v:%s, want StopReason %v", a, dump(got.log), chat.StopAnswerNow)
	}
}

func TestADenialIsKnownAfterARestart(t *testing.T) {
	t.Parallel()
	s := newShop(t, false)
	held := make(chan struct{})
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return orders("slates")
		}
		close(held)
		<-t.Context().Done()
		return says("")
	})
	h := newHouse(t, model, s.with)
	run := h.ask(chat.RunRequest{Message: "How many slates can be ordered? Order them."})
	events := h.follow(run.ID, pending("shop__order"))
	if err := h.runs.Deny(t.Context(), chat.Local, run.ID, events[len(events)-1].(chat.Step).CallID); err != nil {
		t.Fatal(err)
	}
	<-held
	h.die(run.ID)
	second := scripted.New(says("They are ordered."))
	h.hire(second, s.with)
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { h.runs.KeepLeases(ctx) })
	got := h.wait(run.ID)
	if a := got.answer(); a.Markdown != "“Calling shop: order” was not done, because you denied it." {
		t.Errorf("answer = %+v:%s, want Markdown %q",
			a, dump(got.log), "“Calling shop: order” was not done, because you denied it.")
	}
	if m := second.Requests()[0].Messages; m[len(m)-1].Role != llm.RoleTool ||
		!strings.Contains(m[len(m)-1].Text, "denied") {
		t.Errorf("the model was told %+v; want %v and %q in it", m[len(m)-1], llm.RoleTool, "denied")
	}
	stop()
	wg.Wait()
}
