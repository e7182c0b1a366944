package agent

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

// partsOf formats a plan's list as "query: status".
func partsOf(t *testing.T, s chat.Step) []string {
	t.Helper()
	var out struct {
		Parts []chat.PlanPart `json:"sub_queries"`
	}
	if err := json.Unmarshal(s.ToolOutput, &out); err != nil {
		t.Fatalf("plan = %s, %v; want no error", s.ToolOutput, err)
	}
	var list []string
	for _, p := range out.Parts {
		list = append(list, p.Query+": "+string(p.Status))
	}
	return list
}

func (t transcript) plans() []chat.Step {
	return slices.DeleteFunc(all[chat.Step](t), func(s chat.Step) bool { return s.Step != "plan" })
}

func decomposed(text string) chat.RunRequest {
	on := true
	return chat.RunRequest{Message: text, Config: chat.RunConfig{EnableQueryDecomposition: &on}}
}

func TestComplexQuestionIsSplitIntoPlan(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil, nil))
	got := h.answer(asks("Compare the roof condition and paid holiday"))
	a := got.answer()
	if len(a.Citations) < 2 || !strings.Contains(a.Markdown, "28 days") ||
		!strings.Contains(a.Markdown, "poor condition") {
		t.Errorf("answer = %q; want %q in it and %q in it", a.Markdown, "28 days", "poor condition")
	}
	var states []string
	for _, s := range got.plans() {
		states = append(states, strings.Join(partsOf(t, s), ", "))
		if s.ActionType != chat.ActionPlanning || s.ToolName != "" || s.Status != chat.StatusComplete ||
			s.Message != "Planned the answer" {
			t.Errorf("step = %+v; want ActionType %v, ToolName nothing, Status %v, Message %q",
				s, chat.ActionPlanning, chat.StatusComplete, "Planned the answer")
		}
	}
	want := []string{
		"the roof condition: pending, paid holiday: pending",
		"the roof condition: running, paid holiday: pending", "the roof condition: running, paid holiday: running",
		"the roof condition: complete, paid holiday: running", "the roof condition: complete, paid holiday: complete",
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if last := got.step("plan"); last.Summary != "2 of 2 parts done" {
		t.Errorf("summary = %q, want %q", last.Summary, "2 of 2 parts done")
	}
	if p := got.step("parallel"); p.Message != "2 searches in parallel" ||
		!strings.Contains(p.Thought, "the roof condition; paid holiday") {
		t.Errorf("parallel = %q, %q; want %q and %q in it",
			p.Message, p.Thought, "2 searches in parallel", "the roof condition; paid holiday")
	}
}

func TestSimpleQuestionMakesNoPlan(t *testing.T) {
	t.Parallel()
	off := false
	for _, tt := range []struct {
		name string
		req  chat.RunRequest
	}{
		{"a simple question", asks("How many days of paid holiday are there?")},
		{"a complex one, switched off",
			chat.RunRequest{
				Message: "Compare the roof and holidays", Config: chat.RunConfig{EnableQueryDecomposition: &off},
			}},
		{"talk", decomposed("Hello there!")},
		{"a given text",
			chat.RunRequest{
				Message: "Compare the roof and holidays", ContextText: "The roof is red.",
				Config: decomposed("").Config,
			}},
		{"no tool to search with",
			chat.RunRequest{
				Message: "Compare the roof and holidays", Config: chat.RunConfig{EnabledTools: []string{"calculate"}},
			}},
	} {
		h := newHarness(t, offline.New(nil, nil))
		if plans := h.answer(tt.req).plans(); len(plans) > 0 {
			t.Errorf("%s: %+v, want none", tt.name, plans)
		}
	}
}

func TestRequestEnablesModelPlanning(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		says(`{"sub_queries":[{"query":"Who renewed the roof?","reasoning":"names the firm","depends_on":[]},
			{"query":"paid holiday","reasoning":"asked too","depends_on":[]},
			{"query":"What else did they say about guarantee?","reasoning":"builds on the firm","depends_on":[0]}]}`),
		says("The roof was last renewed in 1987 by Harper & Sons [1]. There are 28 days of paid holiday a year [2]."),
	)
	h := newHarness(t, model)
	got := h.answer(decomposed("Who renewed the roof, and how long is the holiday, and what about the guarantee?"))
	got.answer()
	reqs := model.Requests()
	if len(reqs[0].Tools) != 0 || !reqs[0].NoTools ||
		!strings.Contains(reqs[0].Messages[0].Text, "Break the user's question down") {
		t.Errorf("planning request = %+v; want no tools, NoTools true, %q in it",
			reqs[0], "Break the user's question down")
	}
	plan := got.step("plan")
	want := []string{
		"Who renewed the roof?: complete", "paid holiday: complete",
		"What else did they say about guarantee?: complete",
	}
	if diff := cmp.Diff(want, partsOf(t, plan)); diff != "" || plan.Details["planned_by"] != "model" {
		t.Errorf("plan by %v (-want +got):\n%s", plan.Details["planned_by"], diff)
	}
	if first := got.plans()[0]; first.Tokens == nil || first.Tokens.Out == 0 ||
		!strings.Contains(string(first.ToolOutput), `"reasoning":"names the firm","depends_on":[]`) {
		t.Errorf("first state = %+v, %s; want other than 0", first.Tokens, first.ToolOutput)
	}
	// the two independent parts run concurrently, the third after both, with its pronoun "they" resolved
	msgs := reqs[1].Messages
	if n := len(msgs[2].Calls); n != 2 {
		t.Fatalf("%d calls in the first wave, want 2", n)
	}
	if last := msgs[5].Calls; len(last) != 1 ||
		!strings.Contains(string(last[0].Arguments), "guarantee? renewed roof") {
		t.Errorf("second wave = %+v, want 1", last)
	}
	if a := got.answer(); a.StepsUsed != 1 || a.Tokens.In != 200 {
		t.Errorf("steps %d, tokens %+v: planning is charged, searching by plan is no turn; want 1 and In 200",
			a.StepsUsed, a.Tokens)
	}
	var begun []string
	for _, s := range all[chat.Step](got) {
		if s.ToolName != "" {
			begun = append(begun, string(s.Status))
		}
	}
	if diff := cmp.Diff([]string{"running", "running", "complete", "complete", "running", "complete"},
		begun); diff != "" {
		t.Errorf("order of calls (-want +got):\n%s", diff)
	}
}

func TestInvalidPlanFallsBackToQuestion(t *testing.T) {
	t.Parallel()
	const q = "How many days of paid holiday are there?"
	for _, tt := range []struct {
		name  string
		reply scripted.Reply
		note  string
	}{
		{"words", says("First I would look for holidays."), "no list"},
		{"a circle", says(`[{"query":"a","depends_on":[1]},{"query":"b","depends_on":[0]}]`), "circle"},
		{"an error", fails(llm.KindServer), "did not answer"},
	} {
		h := newHarness(t, scripted.New(tt.reply, says(goodAnswer)))
		got := h.answer(decomposed(q))
		if a := got.answer(); len(a.Citations) != 1 {
			t.Errorf("%s: answer = %+v, want 1 citation", tt.name, a)
		}
		s := got.step("plan")
		if !strings.Contains(string(s.ToolOutput), tt.note) {
			t.Errorf("%s: output = %s, want the reason", tt.name, s.ToolOutput)
		}
		if note, _ := s.Details["note"].(string); !strings.Contains(note, tt.note) ||
			!slices.Equal(partsOf(t, s), []string{q + ": complete"}) {
			t.Errorf("%s: %q, %v; want %q in it", tt.name, note, partsOf(t, s), tt.note)
		}
	}
}

func TestMalformedPlanSearchesForQuestion(t *testing.T) {
	t.Parallel()
	const simple, complex = "How many days of paid holiday are there?",
		"Compare the roof condition and paid holiday, and why is it?"
	for _, set := range []string{"cursor", "react", "strategy"} {
		for _, q := range []string{simple, complex} {
			for _, plan := range []string{
				"First I would look for holidays.", `{"sub_queries":[{"query":"a"`, `{"plan":"paid holiday"}`,
			} {
				h := newHarness(t, scripted.New(says(plan), says(goodAnswer)))
				req := decomposed(q)
				req.Toolset = set
				var searched []string
				for _, s := range h.answer(req).ended() {
					var in struct{ Query string }
					if s.ToolName != "" && json.Unmarshal(s.ToolInput, &in) == nil {
						searched = append(searched, in.Query)
					}
				}
				if !slices.Equal(searched, []string{q}) {
					t.Errorf("%s, after the plan %q: searched for %q, want %q alone", set, plan, searched, q)
				}
			}
		}
	}
}

func TestPlanByRulesNeedsNoModelCall(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(search("paid holiday entitlement")), says(goodAnswer))
	h := newHarness(t, model)
	got := h.answer(asks("Compare paid holiday and roof guarantee"))
	got.answer()
	if first := model.Requests()[0]; len(first.Messages) != 2 ||
		!strings.Contains(first.Messages[0].Text, "- paid holiday\n- roof guarantee\n") {
		t.Errorf("first request = %+v, want 2 messages", first.Messages)
	}
	if diff := cmp.Diff([]string{"paid holiday: complete", "roof guarantee: skipped"},
		partsOf(t, got.step("plan"))); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestAnsweredPlanPartsAreComplete(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, searched, answer string
		want                   []string
	}{
		{"found in other words", "leave per year", "There are 28 days of paid holiday a year [1].",
			[]string{"paid holiday: complete", "sick note: skipped"}},
		{"named by the quote alone", "leave per year", "It is 28 days a year [1].",
			[]string{"paid holiday: complete", "sick note: skipped"}},
		{"spoken of without a footnote", "leave per year",
			"It is 28 days a year [1].\n\nThere is no word about a sick note.",
			[]string{"paid holiday: complete", "sick note: skipped"}},
		{"not answered at all", "leave per year", english.Refusal,
			[]string{"paid holiday: skipped", "sick note: skipped"}},
	} {
		h := newHarness(t, scripted.New(calls(search(tt.searched)), says(tt.answer)))
		got := h.answer(asks("Compare paid holiday and sick note"))
		got.answer()
		if diff := cmp.Diff(tt.want, partsOf(t, got.step("plan"))); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestPlanRespectsSearchBudget(t *testing.T) {
	t.Parallel()
	one := 1
	h := newHarness(t, offline.New(nil, nil))
	req := decomposed("Compare the roof condition and paid holiday")
	req.Config.MaxRetrievalCalls = &one
	got := h.answer(req)
	got.answer()
	if diff := cmp.Diff([]string{"the roof condition: complete", "paid holiday: skipped"},
		partsOf(t, got.step("plan"))); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestKilledRunResumesWithPlan(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHarness(t, offline.New(nil, nil))
	dead := chat.Lease{Owner: "dead", Until: time.Now().Add(time.Hour)}
	begun, _, err := h.store.StartRun(ctx, chat.LocalUser, asks("Compare the roof condition and paid holiday"),
		dead)
	if err != nil {
		t.Fatal(err)
	}
	planned := chat.Step{
		CallID: "c2", Step: "plan", ActionType: chat.ActionPlanning, Status: chat.StatusComplete,
		ToolStatus: chat.StatusComplete, Details: map[string]any{}, Tokens: &chat.Tokens{In: 200, Out: 20},
		Cost: new(0.5),
		ToolOutput: []byte(
			`{"sub_queries":[{"query":"the roof condition","reasoning":"r","depends_on":[],"status":"complete"},` +
				`{"query":"paid holiday","reasoning":"r","depends_on":[],"status":"running"}]}`,
		),
	}
	err = h.feed.Append(ctx, "dead", begun.ID, chat.RunStarted{Question: begun.Request.Message}, planned)
	if err != nil {
		t.Fatal(err)
	}
	h.startAgent(offline.New(nil, nil), func(c *Config) {
		c.Prices = map[string]run.Price{"scripted": {In: 1, Out: 1}}
	})
	got := h.takeOverRun(begun.ID)
	last := got.step("plan")
	if last.Tokens == nil || last.Tokens.In != 200 || last.Cost == nil || *last.Cost != 0.5 {
		t.Errorf("last state has %+v tokens for %v, want those of the first state", last.Tokens, last.Cost)
	}
	if diff := cmp.Diff([]string{"the roof condition: complete", "paid holiday: complete"},
		partsOf(t, last)); diff != "" || last.CallID != "c2" {
		t.Errorf("parts of %s (-want +got):\n%s", last.CallID, diff)
	}
	for _, s := range got.ended() {
		if s.ToolName == "search_documents" && !strings.Contains(string(s.ToolInput), "paid holiday") {
			t.Errorf(`repeated search = %s, want "paid holiday" in it`, s.ToolInput)
		}
	}
	if a := got.answer(); a.Tokens != (chat.Tokens{In: 200, Out: 20}) || a.Cost == nil || *a.Cost != 0.5 {
		t.Errorf("the run took %+v for %v, want what its plan took", a.Tokens, a.Cost)
	}
}

// judges returns a model's evaluation of its answer.
func judges(said string, confidence float64) scripted.Reply {
	return scripted.Reply{
		Text: `{"evaluation":"` + said + `","confidence":` + strconv.FormatFloat(confidence, 'f', -1, 64) + `}`,
	}
}

func selfEvaluating(text string) chat.RunRequest {
	on := true
	return chat.RunRequest{Message: text, Config: chat.RunConfig{EnableSelfEvaluation: &on}}
}

// fullAnswer has a statement about the roof in addition to goodAnswer.
const fullAnswer = "There are 28 days of paid holiday a year [1]. The roof was last renewed in 1987 by Harper & " +
	"Sons [3]."

func TestLowJudgementTriggersSearch(t *testing.T) {
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
			[]scripted.Reply{judges(half, 0.3), calls(search("football")), says(english.Refusal)},
			nil, chat.RunConfig{}, lacking, 0.3, half, 5},
		{"it goes on while the judgement rises",
			[]scripted.Reply{
				judges(half, 0.1), calls(search("roof")), says(goodAnswer + " "), judges(half, 0.3),
				calls(search("roof renewed")), says(fullAnswer), judges("Complete.", 1),
			}, nil, chat.RunConfig{}, "Harper & Sons", 1, "Complete.", 9},
		{"the model fails meanwhile", []scripted.Reply{judges(half, 0.2), fails(llm.KindServer)}, nil, chat.RunConfig{},
			lacking, 0.2, half, 4},
		{"the model fails and another goes on", []scripted.Reply{judges(half, 0.2), fails(llm.KindServer)},
			offline.New(nil, nil), chat.RunConfig{}, lacking, 0.2, half, 4},
		{"no search is left", []scripted.Reply{judges(half, 0.2)}, nil, chat.RunConfig{MaxRetrievalCalls: new(1)},
			lacking, 0.2, half, 3},
		{"no turn is left", []scripted.Reply{judges(half, 0.2)}, nil, chat.RunConfig{MaxSteps: new(2)}, lacking,
			0.2, half, 3},
		{"it is good enough", []scripted.Reply{judges("Nearly.", 0.5)}, nil, chat.RunConfig{}, lacking, 0.5,
			"Nearly.", 3},
	} {
		model := scripted.New(append([]scripted.Reply{calls(search("paid holiday")), says(goodAnswer)},
			tt.replies...)...)
		h := newHarness(t, model, func(c *Config) { c.Fallback = tt.fallback })
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

func TestRetryPromptListsMissingParts(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(search("paid holiday")), says(goodAnswer), judges("The roof is missing.", 0.2),
		calls(search("roof renewed")), says(fullAnswer), judges("Complete.", 0.9))
	h := newHarness(t, model)
	got := h.answer(selfEvaluating("How many days of paid holiday are there, and who renewed the roof?"))
	got.answer()
	asked := model.Requests()[3]
	last := asked.Messages[len(asked.Messages)-1]
	if asked.NoTools || !last.Aside || !strings.Contains(last.Text, "confidence of 0.20") ||
		!strings.Contains(last.Text, "===== data") || !strings.Contains(last.Text, "The roof is missing.") {
		t.Errorf("last message = %+v, tools off: %v; want Aside true, %q in it, %q in it, %q in it",
			last, asked.NoTools, "confidence of 0.20", "===== data", "The roof is missing.")
	}
	if s := got.step("refine"); s.Message != "Score 0.20: searching for missing information" ||
		s.Summary != "The roof is missing." || s.Thought != goodAnswer {
		t.Errorf("step = %+v; want Message %q, Summary %q, Thought %v",
			s, "Score 0.20: searching for missing information", "The roof is missing.", goodAnswer)
	}
}

func TestStrategyToolsetPlansAndReflectsWithModel(t *testing.T) {
	t.Parallel()
	off := false
	plan := says(`{"sub_queries":[{"query":"paid holiday","reasoning":"r"},{"query":"roof renewed","reasoning":"r"}]}`)
	const complicated = "Explain the paid holiday and the renewal of the roof"
	for _, tt := range []struct {
		name    string
		req     chat.RunRequest
		replies []scripted.Reply
		planned any // the planner; nil: there is no plan
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
		h := newHarness(t, model)
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
	h := newHarness(t, offline.New(nil, nil))
	req := asks("How many days of paid holiday are there?")
	req.Toolset = "strategy"
	if a := h.answer(req).answer(); !strings.Contains(a.SelfEvaluation, "supported by") {
		t.Errorf("without a model: %q, want %q in it", a.SelfEvaluation, "supported by")
	}
}

// doubts returns an evaluation that names unsupported sentences by number.
func doubts(numbers string) scripted.Reply {
	return scripted.Reply{
		Text: `{"evaluation":"One thing is invented.","confidence":0.9,"unsupported":` + numbers + `}`,
	}
}

// shownToTheJudge returns the part of the last request with the answer.
func shownToTheJudge(t *testing.T, model *scripted.Model) string {
	t.Helper()
	requests := model.Requests()
	messages := requests[len(requests)-1].Messages
	if !strings.Contains(messages[0].Text, "You judge an answer") {
		t.Fatalf("last request = %q, want %q in it", messages[0].Text, "You judge an answer")
	}
	return messages[len(messages)-1].Text
}

func TestJudgeMarksDoubtfulSentencesUnsupported(t *testing.T) {
	t.Parallel()
	const (
		days    = "There are 28 days of paid holiday a year."
		carried = "Unused days may be carried over until 31 March."
		answer  = "There are 28 days of paid holiday a year [1]. Unused days may be carried over until 31 March [1]."
	)
	for _, tt := range []struct {
		name, numbers string
		unsupported   []string
		confidence    float64
		says          string // part of the self-evaluation
	}{
		{"none", `[]`, nil, 0.9, "2 of 2 sentences"},
		{"left out", `null`, nil, 0.9, "2 of 2 sentences"},
		{"one", `[2]`, []string{carried}, 0.5,
			"It finds 1 sentence of the answer in no text that it was shown. 1 of 2 sentences"},
		{"one, twice and as a word", `["2", 2]`, []string{carried}, 0.5, "1 of 2 sentences"},
		{"all", `[1,2]`, []string{days, carried}, 0, "0 of 2 sentences"},
		{"a number that no sentence has", `[2,7]`, nil, 0.9, "2 of 2 sentences"},
		{"words", `["the second"]`, nil, 0.9, "2 of 2 sentences"},
		{"no list", `"2"`, nil, 0.9, "2 of 2 sentences"},
	} {
		model := scripted.New(calls(search("paid holiday")), says(answer), doubts(tt.numbers))
		a := newHarness(t, model).answer(selfEvaluating("How many days of paid holiday are there?")).answer()
		if !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence ||
			!strings.Contains(a.SelfEvaluation, tt.says) {
			t.Errorf("%s: unsupported %q, confidence %v, %q; want %q, %v, %q", tt.name, a.Unsupported, a.Confidence,
				a.SelfEvaluation, tt.unsupported, tt.confidence, tt.says)
		}
		if n := len(model.Requests()); n != 3 {
			t.Errorf("%s: %d requests to the model, want 3: doubting costs no further one", tt.name, n)
		}
		shown := shownToTheJudge(t, model)
		for _, part := range []string{
			"1. " + days + "\n2. " + carried + "\n", "[1] ", "until 31 March of the following year.",
		} {
			if !strings.Contains(shown, part) {
				t.Errorf("%s: prompt lacks %q:\n%s", tt.name, part, shown)
			}
		}
	}
}

func TestJudgeDoubtsClaimsBeyondGivenText(t *testing.T) {
	t.Parallel()
	const given = "The survey was made by Ada Brown. The sky over the port is green in March, and the tide is low."
	for _, tt := range []struct {
		name, answer, numbers string
		unsupported           []string
		confidence            float64
	}{
		{"nothing is doubted", "The sky over the port is green in March.", `[]`, nil, 0.9},
		{"a sentence is", "The sky over the port is green in March. The survey was made by Ada Brown.", `[1]`,
			[]string{"The sky over the port is green in March."}, 0.4},
		{"a sentence in another language, which words can't be compared with",
			"Der Himmel über dem Hafen ist im März nicht grün, und das Wasser ist hoch.", `[1]`,
			[]string{"Der Himmel über dem Hafen ist im März nicht grün, und das Wasser ist hoch."}, 0},
		{"only what the rules hold is asked about", "The king keeps dragons. The survey was made by Ada Brown.", `[1]`,
			[]string{"The king keeps dragons.", "The survey was made by Ada Brown."}, 0},
	} {
		model := scripted.New(says(tt.answer), doubts(tt.numbers))
		req := selfEvaluating("What does the text say?")
		req.ContextText = given
		a := newHarness(t, model).answer(req).answer()
		if !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence {
			t.Errorf("%s: unsupported %q, confidence %v (%s); want %q, %v", tt.name, a.Unsupported, a.Confidence,
				a.SelfEvaluation, tt.unsupported, tt.confidence)
		}
		if shown := shownToTheJudge(t, model); !strings.Contains(shown, given) || !strings.Contains(shown, "\n1. ") {
			t.Errorf("%s: prompt of the judge lacks the given text:\n%s", tt.name, shown)
		}
	}
}

func TestJudgeIsNotAskedAboutHiddenEvidence(t *testing.T) {
	t.Parallel()
	// the sum is supported by calculate's result, which the judge's prompt lacks
	model := scripted.New(calls(call("calculate", `{"expression":"391*17"}`)), says("391 × 17 is 6,647."),
		doubts(`[1]`))
	a := newHarness(t, model).answer(selfEvaluating("What is 391 * 17?")).answer()
	if len(a.Unsupported) > 0 {
		t.Errorf("unsupported = %q, want nothing", a.Unsupported)
	}
	if shown := shownToTheJudge(t, model); strings.Contains(shown, "that you check") {
		t.Errorf("prompt of the judge has sentences to check:\n%s", shown)
	}
}

func TestDoubtsApplyToTheirAnswerOnly(t *testing.T) {
	t.Parallel()
	low := scripted.Reply{Text: `{"evaluation":"The roof is missing.","confidence":0.3,"unsupported":[1]}`}
	model := scripted.New(calls(search("paid holiday")), says(goodAnswer), low, calls(search("roof renewed")),
		says(fullAnswer), judges("Complete.", 0.9))
	if a := newHarness(
		t, model,
	).answer(
		selfEvaluating("How many days of paid holiday are there, and who renewed the roof?"),
	).answer(); len(a.Unsupported) > 0 || a.Confidence != 0.9 {
		t.Errorf("the better answer: unsupported %q, confidence %v; want nothing, 0.9", a.Unsupported, a.Confidence)
	}
}
