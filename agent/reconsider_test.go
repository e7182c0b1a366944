package agent

import (
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// judges is a model's judgement of its answer.
func judges(said string, confidence float64) scripted.Reply {
	return scripted.Reply{
		Text: `{"evaluation":"` + said + `","confidence":` + strconv.FormatFloat(confidence, 'f', -1, 64) + `}`,
	}
}

func selfEvaluating(text string) chat.RunRequest {
	on := true
	return chat.RunRequest{Message: text, Config: chat.RunConfig{EnableSelfEvaluation: &on}}
}

// fullAnswer says more than goodAnswer: of the roof too.
const fullAnswer = "There are 28 days of paid holiday a year [1]. The roof was last renewed in 1987 by Harper & " +
	"Sons [3]."

func TestALowJudgementLeadsToAnotherSearch(t *testing.T) {
	t.Parallel()
	const half = "It says nothing of the roof."
	const lacking = goodAnswer
	for _, tt := range []struct {
		name     string
		replies  []scripted.Reply // after the first answer
		fallback llm.Model
		budget   chat.RunConfig
		want     string // part of the answer
		sure     float64
		says     string // part of the self-evaluation
		asked    int    // requests to the model
	}{
		{"a better answer stands",
			[]scripted.Reply{
				judges(half, 0.2), calls(search("roof renewed")), says(fullAnswer), judges("Complete.", 0.9),
			}, nil, chat.RunConfig{}, "Harper & Sons", 0.9, "Complete. The model's confidence is 0.90.", 6},
		{"one that is no better does not",
			[]scripted.Reply{
				judges(half, 0.3), calls(search("roof renewed")),
				says("The roof was last renewed in 1987 by Harper & Sons [3]."), judges("Half.", 0.2),
			}, nil, chat.RunConfig{}, lacking, 0.3, half + " The model's confidence is 0.30.", 6},
		{"a refusal does not",
			[]scripted.Reply{judges(half, 0.3), calls(search("football")), says(ground.RefusalSentence)},
			nil, chat.RunConfig{}, lacking, 0.3, half, 5},
		{"it goes on while the judgement rises",
			[]scripted.Reply{
				judges(half, 0.1), calls(search("roof")), says(goodAnswer + " "), judges(half, 0.3),
				calls(search("roof renewed")), says(fullAnswer), judges("Complete.", 1),
			}, nil, chat.RunConfig{}, "Harper & Sons", 1, "Complete.", 9},
		{"the model fails meanwhile", []scripted.Reply{judges(half, 0.2), fails(llm.KindServer)}, nil, chat.RunConfig{},
			lacking, 0.2, half, 4},
		{"the model fails and another goes on", []scripted.Reply{judges(half, 0.2), fails(llm.KindServer)},
			offline.New(nil), chat.RunConfig{}, lacking, 0.2, half, 4},
		{"no search is left", []scripted.Reply{judges(half, 0.2)}, nil, chat.RunConfig{MaxRetrievalCalls: new(1)},
			lacking, 0.2, half, 3},
		{"no turn is left", []scripted.Reply{judges(half, 0.2)}, nil, chat.RunConfig{MaxSteps: new(2)}, lacking,
			0.2, half, 3},
		{"it is good enough", []scripted.Reply{judges("Nearly.", 0.5)}, nil, chat.RunConfig{}, lacking, 0.5,
			"Nearly.", 3},
	} {
		model := scripted.New(append([]scripted.Reply{calls(search("paid holiday")), says(goodAnswer)},
			tt.replies...)...)
		h := newHouse(t, model, func(c *Config) { c.Fallback = tt.fallback })
		req := selfEvaluating("How many days of paid holiday are there, and who renewed the roof?")
		req.Config.MaxRetrievalCalls, req.Config.MaxSteps = tt.budget.MaxRetrievalCalls, tt.budget.MaxSteps
		got := h.answer(req)
		a := got.answer()
		if !strings.Contains(a.Markdown, tt.want) || got.text() != a.Markdown || len(a.Citations) == 0 {
			t.Errorf("%s: answer = %q, shown %q, want %q in it", tt.name, a.Markdown, got.text(), tt.want)
		}
		if a.Confidence != tt.sure || !strings.HasPrefix(a.SelfEvaluation, tt.says) {
			t.Errorf("%s: confidence %v, %q; want %v, %q", tt.name, a.Confidence, a.SelfEvaluation, tt.sure, tt.says)
		}
		if n := len(model.Requests()); n != tt.asked {
			t.Errorf("%s: %d requests, want %d", tt.name, n, tt.asked)
		}
	}
}

func TestTheModelIsToldWhatItsAnswerLacks(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(search("paid holiday")), says(goodAnswer), judges("The roof is missing.", 0.2),
		calls(search("roof renewed")), says(fullAnswer), judges("Complete.", 0.9))
	h := newHouse(t, model)
	got := h.answer(selfEvaluating("How many days of paid holiday are there, and who renewed the roof?"))
	got.answer()
	asked := model.Requests()[3]
	last := asked.Messages[len(asked.Messages)-1]
	if asked.NoTools || !last.Aside || !strings.Contains(last.Text, "confidence of 0.20") ||
		!strings.Contains(last.Text, "===== data") || !strings.Contains(last.Text, "The roof is missing.") {
		t.Errorf("the model was told %+v, tools off: %v; want Aside true, %q in it, %q in it, %q in it",
			last, asked.NoTools, "confidence of 0.20", "===== data", "The roof is missing.")
	}
	if s := got.step("refine"); s.Message != "Judged at 0.20: searching for what is missing" ||
		s.Summary != "The roof is missing." || s.Thought != goodAnswer {
		t.Errorf("step = %+v; want Message %q, Summary %q, Thought %v",
			s, "Judged at 0.20: searching for what is missing", "The roof is missing.", goodAnswer)
	}
}

func TestTheToolsetStrategyPlansAndReflectsWithItsModel(t *testing.T) {
	t.Parallel()
	off := false
	plan := says(`{"sub_queries":[{"query":"paid holiday","reasoning":"r"},{"query":"roof renewed","reasoning":"r"}]}`)
	const complicated = "Explain the paid holiday and the renewal of the roof"
	for _, tt := range []struct {
		name    string
		req     chat.RunRequest
		replies []scripted.Reply
		planned any // by whom; nil: there is no plan
		judged  bool
	}{
		{"a complex question", asks(complicated),
			[]scripted.Reply{plan, says("There are 28 days of paid holiday a year [1]."), judges("Good.", 0.8)},
			"model", true},
		{"a simple one is begun by rules, then judged", asks("How many days of paid holiday are there?"),
			[]scripted.Reply{says(goodAnswer), judges("Good.", 0.8)}, nil, true},
		{"switched off",
			chat.RunRequest{
				Message: complicated, Config: chat.RunConfig{
					EnableQueryDecomposition: &off, EnableSelfEvaluation: &off,
				},
			}, []scripted.Reply{
				calls(llm.Call{ID: "h", Name: "hybrid_search", Arguments: []byte(`{"query":"paid holiday"}`)}),
				says(goodAnswer),
			}, nil, false},
	} {
		model := scripted.New(tt.replies...)
		h := newHouse(t, model)
		tt.req.Toolset = "strategy"
		got := h.answer(tt.req)
		a := got.answer()
		var planned any
		for _, s := range got.plans() {
			planned = s.Details["planned_by"]
		}
		if planned != tt.planned ||
			strings.HasPrefix(a.SelfEvaluation, "Good. The model's confidence is 0.80.") != tt.judged ||
			len(model.Requests()) != len(tt.replies) {
			t.Errorf("%s: planned by %v, want %v; self-evaluation %q; %d requests, want %d", tt.name, planned,
				tt.planned, a.SelfEvaluation, len(model.Requests()), len(tt.replies))
		}
	}
	h := newHouse(t, offline.New(nil))
	req := asks("How many days of paid holiday are there?")
	req.Toolset = "strategy"
	if a := h.answer(req).answer(); !strings.Contains(a.SelfEvaluation, "backed") {
		t.Errorf("without a model: %q, want %q in it", a.SelfEvaluation, "backed")
	}
}
