package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func remembering(m run.Memory) func(*Config) { return func(c *Config) { c.Memory = m } }

// What an answer rested on can be cited in the next turn without another search.
func TestPassagesOfEarlierAnswersAreKnownAndCited(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	session := readBefore(h)
	req := asks("Tell me more about that")
	req.SessionID = session
	const more = "Unused days may be carried over until 31 March of the following year [501]."
	model := scripted.New(says(more))
	h.hire(model)
	got := h.answer(req)
	a := got.answer()
	if a.Markdown != strings.Replace(more, "501", "1", 1) || len(a.Citations) != 1 || len(a.Unsupported) != 0 ||
		len(got.tools()) != 0 {
		t.Errorf("answer %q with %d citations after %q; want 1 citation and none",
			a.Markdown, len(a.Citations), got.tools())
	}
	system := model.Requests()[0].Messages[0].Text
	if !strings.Contains(system, "[501] (Staff handbook") || strings.Count(system, "Every employee is entitled") != 1 {
		t.Errorf("the model was told:\n%s", system)
	}
	if strings.Contains(system, "conversation turn") || !strings.Contains(system, "Cite these passages") {
		t.Errorf("the rules forbid the passages that they hand over:\n%s", system)
	}
	model = scripted.New(says(ground.RefusalSentence), says(ground.RefusalSentence))
	h.hire(model, remembering(run.Memory{Passages: -1}))
	h.answer(req).answer()
	if system := model.Requests()[0].Messages[0].Text; strings.Contains(system, "[501]") {
		t.Errorf("without passages of earlier answers the model was told:\n%s", system)
	}
}

// A second question is held to the documents like the first: only what was said before may be said again without a
// footnote.
func TestAnAnswerFromTheConversationSaysWhatWasSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	session := readBefore(h)
	req := asks("How many days of holiday was that again?")
	req.SessionID = session
	const again = "Every employee is entitled to 28 days of paid holiday in each calendar year."
	h.hire(scripted.New(says(again), says(again)).JudgeBy(no))
	if a := h.answer(req).answer(); a.Markdown != again {
		t.Errorf("what was said before: %q, want %q", a.Markdown, again)
	}
	const invented = "Ada Brown hid 900 gold coins below the kitchen floor."
	h.hire(scripted.New(says(invented), says(invented), says(invented), says(invented), says(invented)).
		JudgeBy(no))
	got := h.answer(req)
	if got.done().Status != chat.RunCitationValidationFailed || strings.Contains(got.text(), "gold") {
		t.Errorf("what nobody said before ended as %s: %q; want %s and no %q in it",
			got.done().Status, got.text(), chat.RunCitationValidationFailed, "gold")
	}
}

func TestAConversationIsToldInItsBounds(t *testing.T) {
	t.Parallel()
	turn := 0
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 && !r.NoTools {
			return calls(search("paid holiday"))
		}
		return says(goodAnswer)
	})
	h := newHouse(t, model, remembering(run.Memory{Questions: 3, Tokens: 200, Passages: 1}))
	session := ""
	for turn = range 6 {
		run := h.ask(chat.RunRequest{
			SessionID: session, Message: fmt.Sprintf("Question %d: how many days of paid holiday are there?", turn),
		})
		h.wait(run.ID).answer()
		session = run.SessionID
	}
	requests := model.Requests()
	last := requests[len(requests)-2].Messages // the first of the last run
	var said []string
	for _, m := range last {
		if m.Role == llm.RoleUser {
			said = append(said, m.Text[:10])
		}
	}
	if want := []string{"Question 2", "Question 3", "Question 4", "Question 5"}; !slices.Equal(said, want) {
		t.Errorf("the model was told %q, want %q", said, want)
	}
	if n := strings.Count(last[0].Text, "(Staff handbook, doc_id"); n != 1 {
		t.Errorf("%d passages are remembered, want 1", n)
	}
}

func TestLongRunsAreCompacted(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(call("read_document", `{"doc_id":"Long.md"}`)), calls(search("paid holiday")),
		calls(call("read_document", `{"doc_id":"Long.md","focus_query":"length"}`)),
		says("The paid holiday of the long document is told at great length [1]."))
	h := newHouse(t, model, thinking(run.Features{ContextTokens: 1200}))
	h.add(
		"Long.md", "# Holidays\n\n"+
			strings.Repeat("The paid holiday of the long document is told at great length, again and again. ", 100),
	)
	got := h.answer(asks("How many days of paid holiday are there?"))
	got.answer()
	s := got.step("compact")
	if !strings.HasPrefix(s.Message, "Shortened") || s.Details["freed"].(float64) <= 0 {
		t.Errorf("step %+v; want %q at its beginning and more than 0", s, "Shortened")
	}
	last := model.Requests()[3].Messages
	if len(last[3].Text) > 1200 || !strings.Contains(last[3].Text, "shortened to save room") ||
		strings.Count(last[3].Text, strings.Fields(last[3].Text)[2]) != 2 {
		t.Errorf("the first result is %s; want at most 1200 and %q in it", last[3].Text, "shortened to save room")
	}
	if len(last[len(last)-1].Text) < 2000 {
		t.Errorf("the last result was shortened: %s, want at least 2000", last[len(last)-1].Text)
	}
	got2 := h.answer(asks("Hello"))
	if got2.has("compact") {
		t.Error("a short run is compacted")
	}
}
