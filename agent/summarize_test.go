package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestSummarizeHasTheModelWriteWhereThereIsOne(t *testing.T) {
	t.Parallel()
	const written = "You get 28 days off a year [1]."
	for _, tt := range []struct {
		name       string
		reply      scripted.Reply
		want, lack string
	}{
		{"a model", says(written + " The moon is far [9]."), written + " The moon is far.", "[9]"},
		{"a model that fails", fails(llm.KindServer), "Every employee is entitled to 28 days", written},
	} {
		model := scripted.New(
			calls(call("retrieve", `{"query":"paid holiday"}`)),
			calls(call("summarize", `{"texts":["[1]"],"focus":"holiday"}`)), tt.reply, says(goodAnswer),
		)
		h := newHouse(t, model)
		off := new(bool)
		got := h.answer(chat.RunRequest{
			Message: "How many days of holiday are there?", Toolset: "react",
			Config: chat.RunConfig{EnableQueryDecomposition: off, EnableSelfEvaluation: off},
		})
		s := got.step("summarize")
		if out := string(s.ToolOutput); !strings.Contains(out, tt.want) || strings.Contains(out, tt.lack) {
			t.Errorf("%s: summarize returned %s, want %q and no %q", tt.name, out, tt.want, tt.lack)
		}
		if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
			t.Errorf("%s: answer = %q, want %q", tt.name, a.Markdown, goodAnswer)
		}
		asked := model.Requests()[2]
		if said := asked.Messages[1].Text; len(asked.Tools) > 0 || !strings.Contains(said, "[1] ") ||
			!strings.Contains(said, "28 days") || !strings.Contains(asked.Messages[0].Text, "Focus on: holiday") {
			t.Errorf("%s: the model was asked %+v, want the passage with its number and the focus", tt.name, asked)
		}
		if tt.lack == "[9]" && s.Tokens.In != 200 {
			t.Errorf("%s: the step took %+v, want what the turn and the summary took", tt.name, s.Tokens)
		}
	}
}

func TestTheLimitOfAToolHoldsForTheSummaryOfItsModel(t *testing.T) {
	t.Parallel()
	slow := says("A summary that comes too late.")
	slow.Delay = 2 * time.Second
	h := newHouse(t, scripted.New(
		calls(call("summarize", `{"texts":["The boiler was installed in March 2016 by the owner."]}`)), slow,
		says(goodAnswer), says(goodAnswer),
	), func(c *Config) { c.ToolTimeout = time.Second })
	req := asks("What about the boiler?")
	req.Config.EnabledTools = []string{"summarize", "retrieve"}
	s := h.answer(req).step("summarize")
	if out := string(s.ToolOutput); s.DurationMS < 1000 || s.DurationMS > 1900 || s.Status != chat.StatusComplete ||
		!strings.Contains(out, "The boiler was installed") || !strings.Contains(out, "The model did not answer") {
		t.Errorf("after %d ms %s %s; want the extracted sentence after the limit of 1 s", s.DurationMS, s.Status, out)
	}
}

func TestASummaryOfTheModelIsNotCalledAllOfTheTexts(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(
		calls(call("summarize", `{"texts":["Yes."]}`)), says("An assent."), says(goodAnswer), says(goodAnswer),
	))
	req := asks("What about the boiler?")
	req.Config.EnabledTools = []string{"summarize", "retrieve"}
	out := string(h.answer(req).step("summarize").ToolOutput)
	if !strings.Contains(out, "An assent.") || !strings.Contains(out, `"notes":[]`) {
		t.Errorf("summarize returned %s, want the model's summary and no note", out)
	}
}

func TestSummarizePicksSentencesWithoutAModel(t *testing.T) {
	t.Parallel()
	for texts, want := range map[string]string{
		`"The boiler was installed in March 2016 by the owner."`: `"summary":"The boiler was installed`,
		`"Yes."`: `"summary":"Yes.","notes":["The texts are so short that this is all of them.",` +
			`"The model did not answer: these are key sentences, word for word."]`,
	} {
		h := newHouse(t, scripted.New(
			calls(call("summarize", `{"texts":[`+texts+`]}`)), fails(llm.KindServer), says(goodAnswer),
			says(goodAnswer),
		))
		req := asks("What about the boiler?")
		req.Config.EnabledTools = []string{"summarize", "retrieve"}
		if out := string(h.answer(req).step("summarize").ToolOutput); !strings.Contains(out, want) {
			t.Errorf("%s: %s, want %s in it", texts, out, want)
		}
	}
}
