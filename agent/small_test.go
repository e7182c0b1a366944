package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"footnote/chat"
	"footnote/e2e/scripted"
	"footnote/llm"
)

func small(c *Config) {
	c.Small = func(_ context.Context, _ string, measuring func()) string {
		measuring()
		return "30 tokens/s in"
	}
}

// A small model gets one short request: no tools, five passages as "[n] title: text", the question again at the end.
func TestASmallModelAnswersOneShortRequest(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(goodAnswer))
	h := newHouse(t, model, small)
	long := strings.Repeat("The guests of the house are asked to take part in the cleaning of the hall. ", 12)
	for i := range 8 {
		h.add(fmt.Sprintf("leave-%d.md", i), fmt.Sprintf(
			"# Leave %d\n\n%sOffice %d grants days of holiday on paper. %s", i, long, i, long,
		))
	}
	const question = "How many days of paid holiday does an employee get?"
	got := h.answer(asks(question))
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
		t.Errorf("answer %+v; want %q with 1 citation", a, goodAnswer)
	}
	if s := got.step("measure"); s.Status != chat.StatusComplete || !strings.Contains(s.Message, "30 tokens/s in") {
		t.Errorf("step %+v; want it complete, with what was measured", s)
	}
	seen := model.Requests()
	if len(seen) != 1 || len(seen[0].Tools) != 0 || !seen[0].NoTools || seen[0].MaxTokens != 800 {
		t.Fatalf("%d requests, the first %+v; want one without tools and at most 800 tokens", len(seen), seen)
	}
	last := seen[0].Messages[len(seen[0].Messages)-1].Text
	_, end, again := strings.Cut(last[strings.LastIndex(last, "====="):], "Question: "+question+"\n")
	if !again || !strings.HasPrefix(end, "Answer the question") || !strings.HasSuffix(end, "[n].") {
		t.Errorf("the prompt ends %q; want the question again and [n]", end)
	}
	if n := strings.Count(last, "\n\n[") + strings.Count(last, "=====\n["); n != 5 {
		t.Errorf("%d passages are shown, want 5:\n%s", n, last)
	}
	if size := len(last) / 4; size > 1200 {
		t.Errorf("the part that changes has about %d tokens, want at most 1,200", size)
	}
	if !strings.Contains(last, "grants days of holiday") {
		t.Errorf("an excerpt lacks the sentence that fits the question:\n%s", last)
	}
}

// What a prefix cache of the server holds of one question serves the next.
func TestTheRulesOfASmallModelNeverChange(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(goodAnswer), says(goodAnswer))
	h := newHouse(t, model, small)
	h.answer(asks("How many days of paid holiday does an employee get?"))
	h.add("more.md", "# More\n\nMore of it.")
	h.answer(asks("What is paid holiday for an employee?"))
	seen := model.Requests()
	if a, b := seen[0].Messages[0], seen[len(seen)-1].Messages[0]; a.Role != llm.RoleSystem || a.Text != b.Text {
		t.Errorf("the rules changed:\n%s\n\n%s", a.Text, b.Text)
	}
}

func TestASmallModelPlansAndJudgesOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		asked *bool
		turns int
	}{{"not asked", nil, 1}, {"asked", new(true), 3}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			plan := says(`["days of holiday", "the notice period"]`)
			judged := says(`{"evaluation":"Good.","confidence":1}`)
			replies := []scripted.Reply{says(goodAnswer)}
			if tt.asked != nil {
				replies = []scripted.Reply{plan, says(goodAnswer), judged}
			}
			model := scripted.New(replies...)
			h := newHouse(t, model, small)
			h.answer(chat.RunRequest{
				Message: "How many days of holiday are there, and how long is the notice?", Toolset: "strategy",
				Config: chat.RunConfig{EnableQueryDecomposition: tt.asked, EnableSelfEvaluation: tt.asked},
			}).answer()
			if n := len(model.Requests()); n != tt.turns {
				t.Errorf("the model was asked %d times, want %d", n, tt.turns)
			}
		})
	}
}

// A small model can't search when rules took its question for one about the list of documents.
func TestASmallModelIsShownPassagesBesideAList(t *testing.T) {
	t.Parallel()
	model := scripted.New(says(goodAnswer))
	h := newHouse(t, model, small)
	h.answer(asks("What documents grant paid holiday to an employee?"))
	last := model.Requests()[0].Messages[1].Text
	if !strings.Contains(last, "[1] Staff handbook, Staff handbook › Leave: ") ||
		!strings.Contains(last, `"documents":[`) {
		t.Errorf("the prompt lacks a passage or the list:\n%s", last)
	}
}
