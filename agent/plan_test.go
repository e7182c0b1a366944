package agent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// parts reads a plan's list as "query: status".
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

func TestAComplexQuestionIsTakenApartAndTicksOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil))
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

func TestWhoIsNotAskedMakesNoPlan(t *testing.T) {
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
		h := newHouse(t, offline.New(nil))
		if plans := h.answer(tt.req).plans(); len(plans) > 0 {
			t.Errorf("%s: %+v, want none", tt.name, plans)
		}
	}
}

func TestAModelPlansWhenTheRequestWantsIt(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		says(`{"sub_queries":[{"query":"Who renewed the roof?","reasoning":"names the firm","depends_on":[]},
			{"query":"paid holiday","reasoning":"asked too","depends_on":[]},
			{"query":"What else did they say about guarantee?","reasoning":"builds on the firm","depends_on":[0]}]}`),
		says("The roof was last renewed in 1987 by Harper & Sons [1]. There are 28 days of paid holiday a year [2]."),
	)
	h := newHouse(t, model)
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
	// the two independent parts run together, the third after both, with the words that "they" stands for
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

func TestAPlanThatCanNotBeUsedIsTheQuestionItself(t *testing.T) {
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
		h := newHouse(t, scripted.New(tt.reply, says(goodAnswer)))
		got := h.answer(decomposed(q))
		if a := got.answer(); len(a.Citations) != 1 {
			t.Errorf("%s: answer = %+v, want 1 citation", tt.name, a)
		}
		s := got.step("plan")
		if !strings.Contains(string(s.ToolOutput), tt.note) {
			t.Errorf("%s: the page does not show why: %s", tt.name, s.ToolOutput)
		}
		if note, _ := s.Details["note"].(string); !strings.Contains(note, tt.note) ||
			!slices.Equal(partsOf(t, s), []string{q + ": complete"}) {
			t.Errorf("%s: %q, %v; want %q in it", tt.name, note, partsOf(t, s), tt.note)
		}
	}
}

func TestAfterAMalformedPlanTheQuestionItselfIsSearchedFor(t *testing.T) {
	t.Parallel()
	const simple, complex = "How many days of paid holiday are there?",
		"Compare the roof condition and paid holiday, and why is it?"
	for _, set := range []string{"cursor", "react", "strategy"} {
		for _, q := range []string{simple, complex} {
			for _, plan := range []string{
				"First I would look for holidays.", `{"sub_queries":[{"query":"a"`, `{"plan":"paid holiday"}`,
			} {
				h := newHouse(t, scripted.New(says(plan), says(goodAnswer)))
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

func TestWithoutBeingAskedAModelGetsThePartsAndNoFurtherCall(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(search("paid holiday entitlement")), says(goodAnswer))
	h := newHouse(t, model)
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

func TestPartsThatTheAnswerSpeaksOfAreComplete(t *testing.T) {
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
		{"not answered at all", "leave per year", ground.RefusalSentence,
			[]string{"paid holiday: skipped", "sick note: skipped"}},
	} {
		h := newHouse(t, scripted.New(calls(search(tt.searched)), says(tt.answer)))
		got := h.answer(asks("Compare paid holiday and sick note"))
		got.answer()
		if diff := cmp.Diff(tt.want, partsOf(t, got.step("plan"))); diff != "" {
			t.Errorf("%s: parts (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestAPlanKeepsToTheBudgetOfSearches(t *testing.T) {
	t.Parallel()
	one := 1
	h := newHouse(t, offline.New(nil))
	req := decomposed("Compare the roof condition and paid holiday")
	req.Config.MaxRetrievalCalls = &one
	got := h.answer(req)
	got.answer()
	if diff := cmp.Diff([]string{"the roof condition: complete", "paid holiday: skipped"},
		partsOf(t, got.step("plan"))); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

func TestAKilledRunGoesOnWithItsPlan(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHouse(t, offline.New(nil))
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
	h.hire(offline.New(nil), func(c *Config) { c.Prices = map[string]run.Price{"scripted": {In: 1, Out: 1}} })
	got := h.carriedOn(begun.ID)
	last := got.step("plan")
	if last.Tokens == nil || last.Tokens.In != 200 || last.Cost == nil || *last.Cost != 0.5 {
		t.Errorf("its last state took %+v for %v, want what its first one says", last.Tokens, last.Cost)
	}
	if diff := cmp.Diff([]string{"the roof condition: complete", "paid holiday: complete"},
		partsOf(t, last)); diff != "" || last.CallID != "c2" {
		t.Errorf("parts of %s (-want +got):\n%s", last.CallID, diff)
	}
	for _, s := range got.ended() {
		if s.ToolName == "search_documents" && !strings.Contains(string(s.ToolInput), "paid holiday") {
			t.Errorf("searched again: %s", s.ToolInput)
		}
	}
	if a := got.answer(); a.Tokens != (chat.Tokens{In: 200, Out: 20}) || a.Cost == nil || *a.Cost != 0.5 {
		t.Errorf("the run took %+v for %v, want what its plan took", a.Tokens, a.Cost)
	}
}
