package agent

import (
	"context"
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// named is a model with another name.
type named struct {
	llm.Model
	name string
}

func (n named) Name() string { return n.name }

func (n named) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return n.Model.Stream(ctx, req)
}

func TestARequestMayNameAnAllowedModel(t *testing.T) {
	t.Parallel()
	small, large := scripted.New(calls(search("holiday")), says(goodAnswer)), scripted.New()
	h := newHouse(t, named{large, "large"}, func(c *Config) {
		c.Models = []llm.Model{named{small, "small"}, named{large, "large"}}
		c.Prices = map[string]run.Price{"small": {In: 0.5, Out: 2}}
	})
	got := h.answer(chat.RunRequest{
		Message: "How many days of holiday are there?", Config: chat.RunConfig{Model: "small"},
	})
	a := got.answer()
	if all[chat.RunStarted](got)[0].Model != "small" || a.Markdown != goodAnswer || len(large.Requests()) != 0 {
		t.Errorf("answer %+v, want Markdown %v", a, goodAnswer)
	}
	want := (float64(a.Tokens.In)*0.5 + float64(a.Tokens.Out)*2) / 1e6
	if a.Cost == nil || math.Abs(*a.Cost-want) > 1e-12 || want == 0 {
		t.Errorf("cost %v, want %v", a.Cost, want)
	}
	if s := got.step("search_documents"); s.Cost == nil || *s.Cost <= 0 || *s.Cost >= *a.Cost {
		t.Errorf("the step costs %v", s.Cost)
	}
	_, _, err := h.runs.Start(t.Context(), chat.LocalUser, chat.RunRequest{
		Message: "Hi", Config: chat.RunConfig{Model: "huge"},
	})
	if chat.CodeOf(orEmpty(err)) != chat.CodeInvalid ||
		!strings.Contains(chat.MessageOf(err), "Allowed: large, small.") {
		t.Errorf("err = %v", err)
	}
}

func TestWhatMayBeChosen(t *testing.T) {
	t.Parallel()
	large := scripted.New()
	h := newHouse(t, named{large, "large"}, withFallback, func(c *Config) {
		c.Models, c.Toolset = []llm.Model{named{scripted.New(), "small"}, named{large, "large"}}, "react"
	})
	if diff := cmp.Diff([]string{"large", "small", "offline"}, h.runs.Models()); diff != "" {
		t.Errorf("models (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"react", "cursor", "documentation", "strategy"}, h.runs.Toolsets()); diff != "" {
		t.Errorf("toolsets (-want +got):\n%s", diff)
	}
	got := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday does an employee get?", Toolset: "cursor",
		Config: chat.RunConfig{Model: "offline"},
	})
	if a := got.answer(); all[chat.RunStarted](got)[0].Model != "offline" || len(a.Citations) == 0 ||
		len(large.Requests()) != 0 {
		t.Errorf("answer %+v after %d requests to the model; want some citations and none", a, len(large.Requests()))
	}
}

func TestAStepOfAModelThatIsGoneIsRunAgainByTheUsualOne(t *testing.T) {
	t.Parallel()
	small, large := scripted.New(calls(search("holiday")), says(goodAnswer)), scripted.New(says(goodAnswer))
	h := newHouse(t, named{large, "large"}, func(c *Config) { c.Models = []llm.Model{named{small, "small"}} })
	first := h.answer(chat.RunRequest{
		Message: "How many days of holiday are there?", Config: chat.RunConfig{Model: "small"},
	})
	h.hire(named{large, "large"})
	run, _, err := h.runs.Rerun(t.Context(), chat.Local, first.runID, first.step("search_documents").CallID,
		[]byte(`{"query":"paid holiday"}`), "")
	if err != nil {
		t.Fatal(err)
	}
	got := transcript{t, run.ID, h.follow(run.ID, isDone)}
	if started := all[chat.RunStarted](got)[0]; started.Model != "large" || got.answer().Markdown != goodAnswer {
		t.Errorf("started %+v, want Model %q", started, "large")
	}
}

func TestAModelBelowTheLeastOneGetsTheFixedPipeline(t *testing.T) {
	t.Parallel()
	small, large := scripted.New(says(goodAnswer)), scripted.New(calls(search("holiday")), says(goodAnswer))
	h := newHouse(t, named{large, "large"}, func(c *Config) {
		c.Models, c.LeastModel = []llm.Model{named{small, "small"}, named{large, "large"}}, "large"
	})
	got := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday does an employee get?", Config: chat.RunConfig{Model: "small"},
	})
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
		t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
	}
	if s := got.step("choose"); s.Details["by"] != "pipeline" {
		t.Errorf("choice %+v, want %q", s, "pipeline")
	}
	if s := got.step("search_documents"); !strings.Contains(s.Thought, "fixed pipeline") ||
		s.Status != chat.StatusComplete {
		t.Errorf("step %+v; want %q in it and Status %v", s, "fixed pipeline", chat.StatusComplete)
	}
	if seen := small.Requests(); len(seen) != 1 || !seen[0].NoTools {
		t.Errorf("the small model was asked %d times, want 1", len(seen))
	}
	h.answer(asks("How many days of holiday are there?")).answer()
	if seen := large.Requests(); len(seen) != 2 || seen[0].NoTools {
		t.Errorf("the large model was asked %d times, want 2", len(seen))
	}
}

func TestAModelWithoutAPriceCostsNothingKnown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(calls(search("holiday")), says(goodAnswer)))
	if a := h.answer(asks("How many days of holiday are there?")).answer(); a.Cost != nil {
		t.Errorf("cost %v", *a.Cost)
	}
}

func TestPlansAreMadeByTheCheaperModel(t *testing.T) {
	t.Parallel()
	cheap := scripted.New(says(`["days of holiday", "the notice period"]`), says("That is enough."))
	main := scripted.New(says(goodAnswer))
	h := newHouse(t, main, func(c *Config) { c.Select = named{cheap, "cheap"} })
	h.answer(chat.RunRequest{
		Message: "How many days of holiday are there, and how long is the notice?",
		Config:  chat.RunConfig{EnableQueryDecomposition: new(true), EnableSelfEvaluation: new(false)},
	}).answer()
	if asked := cheap.Requests(); len(asked) != 2 || !asked[0].NoTools || asked[1].NoTools {
		t.Errorf("the cheaper model was asked %d times, want 2", len(asked))
	}
	if asked := main.Requests(); len(asked) != 1 || !asked[0].NoTools {
		t.Errorf("the main model was asked %d times, want 1", len(asked))
	}
}

func TestACostIsOfAllModelsOrNotGiven(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		prices map[string]run.Price
		given  bool
	}{
		{map[string]run.Price{"large": {In: 2, Out: 8}}, false},
		{map[string]run.Price{"cheap": {In: 1, Out: 4}}, false},
		{map[string]run.Price{"large": {In: 2, Out: 8}, "cheap": {In: 1, Out: 4}}, true},
	} {
		cheap, main := scripted.New(calls(search("holiday")), says("That is enough.")), scripted.New(says(goodAnswer))
		h := newHouse(t, named{main, "large"}, func(c *Config) {
			c.Select, c.Prices, c.Features = named{cheap, "cheap"}, tt.prices, run.Features{
				Selection: tools.SelectModel,
			}
		})
		got := h.answer(asks("How many days of holiday are there?"))
		if len(cheap.Requests()) == 0 || len(main.Requests()) == 0 {
			t.Fatalf("asked %d and %d times; want some and some", len(cheap.Requests()), len(main.Requests()))
		}
		if a := got.answer(); (a.Cost != nil) != tt.given {
			t.Errorf("prices %v: cost %v", tt.prices, a.Cost)
		}
	}
}
