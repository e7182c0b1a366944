package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func cheaper(m llm.Model) func(*Config) {
	return func(c *Config) {
		c.Select = named{m, "small"}
		c.Prices = map[string]run.Price{"small": {In: 1, Out: 1}, "large": {In: 100, Out: 100}}
	}
}

func TestACheaperModelChoosesToolsAndTheRunsOwnAnswers(t *testing.T) {
	t.Parallel()
	small := scripted.New(calls(search("holiday")), says("I have seen enough."))
	large := scripted.New(says(goodAnswer))
	h := newHouse(t, named{large, "large"}, cheaper(small))
	got := h.answer(asks("How many days of holiday are there?"))
	a := got.answer()
	if a.Markdown != goodAnswer || len(a.Citations) != 1 || !slices.Contains(got.tools(), "search_documents") ||
		a.StepsUsed != 2 {
		t.Errorf("answer %+v after %v; want Markdown %v, 1 citation, %q in it, StepsUsed 2",
			a, got.tools(), goodAnswer, "search_documents")
	}
	if asked := small.Requests(); len(asked) != 2 || asked[0].NoTools || len(asked[0].Tools) == 0 {
		t.Errorf("the cheaper model was asked %d times, want 2", len(asked))
	}
	asked := large.Requests()
	if len(asked) != 1 || !asked[0].NoTools {
		t.Fatalf("the run's model was asked %d times, want 1", len(asked))
	}
	if last := asked[0].Messages[len(asked[0].Messages)-1]; last.Role != llm.RoleTool {
		t.Errorf("the last it sees is %+v, not what was found, want Role %v", last, llm.RoleTool)
	}
	if dropped, want := droppedTexts(t, got.ended()), []string{"I have seen enough."}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
	if s := got.step("search_documents"); s.Cost == nil || *s.Cost*50 > *a.Cost {
		t.Errorf("the step costs %v of %v: not at the cheaper price", s.Cost, *a.Cost)
	}
}

func TestARunsOwnModelChoosesWhenTheCheaperOneFails(t *testing.T) {
	t.Parallel()
	small := scripted.New(fails(llm.KindServer))
	large := scripted.New(calls(search("holiday")), says(goodAnswer))
	h := newHouse(t, named{large, "large"}, cheaper(small))
	got := h.answer(asks("How many days of holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer {
		t.Errorf("answer %+v, want Markdown %v", a, goodAnswer)
	}
	if s := got.step("choose"); s.Status != chat.StatusError || s.Error == nil ||
		!strings.Contains(s.Message, "large chooses itself") {
		t.Errorf("step %+v; want Status %v and %q in it", s, chat.StatusError, "large chooses itself")
	}
	if n := len(small.Requests()); n != 1 {
		t.Errorf("the cheaper model was asked %d times, want 1", n)
	}
}

func TestACheaperModelThatSearchesNothingIsAskedToOnce(t *testing.T) {
	t.Parallel()
	small := scripted.New(says("No."), calls(search("holiday")), says("Done.")).JudgeBy(no)
	large := scripted.New(says("There are twenty."), says(goodAnswer))
	h := newHouse(t, named{large, "large"}, cheaper(small))
	got := h.answer(asks("How many days of holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
		t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
	}
	if asked := small.Requests(); len(asked) != 3 ||
		asked[1].Messages[len(
			asked[1].Messages,
		)-1].Text != "You have not searched the documents. Search them before you answer; if they do not hold the "+
			"answer, say so with the agreed sentence." {
		t.Errorf("the cheaper model was asked %d times, want 3", len(asked))
	}
}

func TestWithoutAnalysisARunWorks(t *testing.T) {
	t.Parallel()
	for _, selection := range []tools.Selection{tools.SelectModel, tools.SelectRules, tools.SelectAuto} {
		t.Run(string(selection), func(t *testing.T) {
			t.Parallel()
			model := scripted.New(calls(search("holiday")), says(goodAnswer))
			if selection == tools.SelectRules {
				model = scripted.New(says(goodAnswer))
			}
			h := newHouse(t, model, thinking(run.Features{Selection: selection, Without: []string{"analyse"}}))
			got := h.answer(asks("How many days of paid holiday does an employee get?"))
			if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
				t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
			}
			for _, s := range got.ended() {
				if s.Step == "analyse" {
					t.Errorf("there is a step of the analysis: %+v, want other than %q", s, "analyse")
				}
			}
			if system := model.Requests()[0].Messages[0].Text; strings.Contains(system, "suggested_tools") ||
				strings.Contains(system, "simple rules") {
				t.Errorf("the model is told of the analysis: %s; want no %q in it and no %q in it",
					system, "suggested_tools", "simple rules")
			}
		})
	}
	h := newHouse(t, scripted.New(says("Hello! Ask me about your documents.")),
		thinking(run.Features{Without: []string{"analyse", "short_paths"}}))
	if a := h.answer(asks("Hello!")).answer(); a.StopReason != chat.StopAnswered || len(a.Citations) != 0 {
		t.Errorf("talk: %+v; want StopReason %v and no citations", a, chat.StopAnswered)
	}
}
