package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func thinking(t run.Features) func(*Config) { return func(c *Config) { c.Features = t } }

// tools are the names of the tools that were called, in order.
func (t transcript) tools() []string {
	out := []string{}
	for _, s := range t.ended() {
		if s.ToolName != "" {
			out = append(out, s.ToolName)
		}
	}
	return out
}

// readBefore is a conversation whose first answer rests on the handbook.
func readBefore(h *house) string {
	h.Helper()
	h.hire(scripted.New(calls(search("paid holiday")), says(goodAnswer)))
	run := h.ask(asks("How many days of paid holiday are there?"))
	h.wait(run.ID).answer()
	return run.SessionID
}

// Each short path skips the model's choosing, and none skips the tools that its answer rests on.
func TestShortPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, question string
		later          bool
		answer         string
		tools          []string
	}{
		{"talk", "Hello there!", false, "Hello! Ask me about your documents.", []string{}},
		{"transform", "Please translate the following text into French:\nThe roof was renewed in 1987.", false,
			"Le toit a été refait en 1987.", []string{}},
		{"transform", "Shorten your last answer", true, "28 days [1].", []string{}}, // the footnote of what it shortens
		{"citation", "What exactly does [1] say?", true, goodAnswer, []string{"read_document"}},
		{"citation", "Can you show me more of footnote 1?", true, goodAnswer, []string{"read_document"}},
		{"document", "What does Handbook.md say about paid holiday?", false, goodAnswer,
			[]string{"search_documents", "read_document"}},
		{"document", "What does the staff handbook say about paid holiday?", false, goodAnswer,
			[]string{"search_documents", "read_document"}},
		{"document", "Read the Staff handbook", false, goodAnswer, []string{"search_documents", "read_document"}},
	} {
		t.Run(tt.name+" "+tt.question, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, scripted.New())
			req := asks(tt.question)
			if tt.later {
				req.SessionID = readBefore(h)
			}
			model := scripted.New(says(strings.Replace(tt.answer, "28 days [1].", "28 days.", 1)))
			h.hire(model)
			got := h.answer(req)
			if a := got.answer(); a.Markdown != tt.answer {
				t.Errorf("answer %q, want %q", a.Markdown, tt.answer)
			}
			s := got.step("choose")
			if s.Details["path"] != tt.name || s.Details["confidence"].(float64) < 0.7 ||
				!slices.Equal(got.tools(), tt.tools) {
				t.Errorf("path %v with the tools %q; want %v, at least 0.7, %q",
					s.Details, got.tools(), tt.name, tt.tools)
			}
			// the model may call tools for what rules take for talk
			free := tt.name == "talk" || tt.name == "transform"
			if seen := model.Requests(); len(seen) != 1 || seen[0].NoTools == free {
				t.Errorf("the model was asked %d times, want 1 with tools %v", len(seen), free)
			}
			for _, s := range got.ended() {
				if s.ToolName == "search_documents" && strings.Contains(string(s.ToolOutput), "Survey.md") {
					t.Errorf("it searched outside of the named document: %s", s.ToolOutput)
				}
			}
			model = scripted.New(says(ground.RefusalSentence), says(ground.RefusalSentence),
				says(ground.RefusalSentence))
			h.hire(model, thinking(run.Features{Without: []string{"short_paths"}}))
			got = h.answer(req)
			if got.has("choose") && got.step("choose").Details["path"] != nil || model.Requests()[0].NoTools {
				t.Error("it can't be switched off")
			}
		})
	}
}

func (t transcript) has(name string) bool {
	return slices.ContainsFunc(t.ended(), func(s chat.Step) bool { return s.Step == name })
}

// chosenBy says who chose the first tools, empty when nothing says it.
func (t transcript) chosenBy() string {
	for _, s := range t.ended() {
		if by, ok := s.Details["by"].(string); ok && s.Step == "choose" {
			return by
		}
	}
	return ""
}

func TestAShortPathThatDoesNotSufficeIsLeftToTheModel(t *testing.T) {
	t.Parallel()
	good := strings.Replace(goodAnswer, "[1]", "[1][2][3][4]", 1) // one of them is it
	model := scripted.New(says(ground.RefusalSentence), calls(search("paid holiday")), says(good))
	h := newHouse(t, model)
	got := h.answer(asks("What does Survey.md say about paid holiday?"))
	if a := got.answer(); !strings.HasPrefix(a.Markdown, goodAnswer[:20]) || got.text() != a.Markdown {
		t.Errorf("answer %q, want %q at its beginning", a.Markdown, goodAnswer[:20])
	}
	if seen := model.Requests(); len(seen) != 3 || seen[1].NoTools {
		t.Errorf("the model was asked %d times, want 3", len(seen))
	}
}

func TestSelectionSaysWhoChooses(t *testing.T) {
	t.Parallel()
	const simple, complicated = "Who made the building survey?", "Why is the roof in poor condition?"
	for _, tt := range []struct {
		name, question string
		set            run.Features
		asks           string
		by             string
		turns          int
	}{
		{"the model by default", simple, run.Features{}, "", "", 2},
		{"rules by the settings", complicated, run.Features{Selection: tools.SelectRules}, "", "rules", 1},
		{"rules by the request", complicated, run.Features{}, "rules", "rules", 1},
		{"auto, simple", simple, run.Features{Selection: tools.SelectAuto}, "", "rules", 1},
		{"auto, not simple", complicated, run.Features{Selection: tools.SelectAuto}, "", "model", 2},
		{"the request wins", simple, run.Features{Selection: tools.SelectRules}, "model", "", 2},
		{"the agent is off", complicated, run.Features{Pipeline: true}, "model", "pipeline", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const answer = "The survey was made by Ada Brown on 3 March 2024; the roof covering is in poor condition " +
				"[1][2][3]."
			model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
				if !r.NoTools && r.Turn() == 0 {
					return calls(search("survey"))
				}
				return says(answer)
			})
			h := newHouse(t, model, thinking(tt.set))
			got := h.answer(chat.RunRequest{Message: tt.question, Config: chat.RunConfig{Selection: tt.asks}})
			got.answer()
			if len(model.Requests()) != tt.turns {
				t.Errorf("%d turns, want %d", len(model.Requests()), tt.turns)
			}
			if tt.by == "" {
				if got.has("choose") {
					t.Error("rules chose")
				}
				return
			}
			if s := got.step("choose"); s.Details["by"] != tt.by || s.Details["why"] == "" ||
				s.Details["confidence"].(float64) <= 0 {
				t.Errorf("choice %v; want %v, something, more than 0", s.Details, tt.by)
			}
			if !slices.Contains(got.tools(), "search_documents") {
				t.Errorf("tools %q, want %q in it", got.tools(), "search_documents")
			}
		})
	}
	if _, err := newHouse(t, scripted.New()).library, (run.Features{Selection: "dice"}).Check(); err == nil {
		t.Error("an unknown selection is taken")
	}
	if err := (run.Features{Without: []string{"sleep"}}).Check(); err == nil ||
		!strings.Contains(err.Error(), "cached_decisions") {
		t.Errorf("an unknown feature: %v, want %q in it", err, "cached_decisions")
	}
}

func TestEarlyStopSparesTheReading(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	ask := func(set run.Features) transcript {
		h.hire(scripted.New(says(goodAnswer)), thinking(set))
		return h.answer(asks("Is every employee entitled to paid holiday?"))
	}
	if got := ask(run.Features{Selection: tools.SelectRules}); !got.has("enough") ||
		slices.Contains(got.tools(), "read_document") {
		t.Errorf("tools %q:%s, want no %q in it", got.tools(), dump(got.log), "read_document")
	}
	if got := ask(run.Features{Selection: tools.SelectRules, Without: []string{"early_stop"}}); got.has("enough") ||
		!slices.Contains(got.tools(), "read_document") {
		t.Errorf("without it: tools %q, want %q in it", got.tools(), "read_document")
	}
}

func TestTheModelsChoiceIsUsedAgainForASimilarQuestion(t *testing.T) {
	t.Parallel()
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if !r.NoTools && r.Turn() == 0 {
			return calls(search("entitled paid holiday"))
		}
		return says(goodAnswer)
	})
	h := newHouse(t, model, thinking(run.Features{Selection: tools.SelectAuto}))
	h.answer(asks("Why and how are employees entitled to paid holidays?")).answer()
	if n := len(model.Requests()); n != 2 {
		t.Fatalf("%d turns, want 2", n)
	}
	got := h.answer(asks("How are employees entitled to a paid holiday, and why?"))
	got.answer()
	if s := got.step("choose"); s.Details["by"] != "cache" || len(model.Requests()) != 3 {
		t.Errorf("choice %v after %d turns; want %q and 3", s.Details, len(model.Requests()), "cache")
	}
	if s := got.step("search_documents"); !strings.Contains(string(s.ToolInput),
		`"query":"How are employees entitled to a paid holiday, and why?"`) {
		t.Errorf("input %s: not the new question's words", s.ToolInput)
	}
	got = h.answer(asks("why and how are employees entitled to paid  holidays?"))
	if s := got.step("search_documents"); !strings.Contains(string(s.ToolInput), `"query":"entitled paid holiday"`) {
		t.Errorf("input %s: not that of the same question", s.ToolInput)
	}
	if h.answer(asks("Why and how are employees not entitled to paid holidays?")).chosenBy() == "cache" {
		t.Error("the opposite question takes the same choice")
	}
	if h.answer(asks("How are contractors entitled to a paid holiday, and why?")).chosenBy() == "cache" {
		t.Error("other words take the same choice")
	}
	again := asks("How are employees entitled to a paid holiday, and why?")
	again.SessionID = all[chat.RunStarted](got)[0].SessionID
	again.Sibling = got.runID
	if h.answer(again).chosenBy() == "cache" {
		t.Error("a question that is asked again takes the same choice")
	}
}

// What a tool was given besides the question's words is not used for another question.
func TestOnlyTheToolsOfASimilarQuestionAreUsedAgain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		first []llm.Call
		want  []string // of the second run; nil: the model chooses
	}{
		{"two searches become one",
			[]llm.Call{
				search("entitled"),
				{ID: "b", Name: "search_documents", Arguments: []byte(`{"query":"holiday","max_results":3}`)},
			}, []string{`{"max_results":10,"query":"How are employees entitled to a paid holiday, and why?"}`}},
		{"a document that was named",
			[]llm.Call{
				search("entitled"), {ID: "b", Name: "read_document", Arguments: []byte(`{"doc_id":"Handbook.md"}`)},
			}, nil},
	} {
		model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
			if !r.NoTools && r.Turn() == 0 {
				return calls(tt.first...)
			}
			return says(goodAnswer)
		})
		h := newHouse(t, model, thinking(run.Features{Selection: tools.SelectAuto}))
		h.answer(asks("Why and how are employees entitled to paid holidays?")).answer()
		got := h.answer(asks("How are employees entitled to a paid holiday, and why?"))
		got.answer()
		if (got.chosenBy() == "cache") != (tt.want != nil) {
			t.Errorf("%s: chosen by %q; as before: %v", tt.name, got.chosenBy(), tt.want != nil)
		}
		var inputs []string
		for _, s := range got.ended() {
			if s.ToolName == "search_documents" && tt.want != nil {
				inputs = append(inputs, string(s.ToolInput))
			}
		}
		if !slices.Equal(inputs, tt.want) {
			t.Errorf("%s: searched %q, want %q", tt.name, inputs, tt.want)
		}
	}
}

func TestASearchThatFoundNothingIsMadeInOtherWords(t *testing.T) {
	t.Parallel()
	script := func() *scripted.Model { return scripted.New(calls(search("zzyzx qwertz")), says(goodAnswer)) }
	h := newHouse(t, script())
	got := h.answer(asks("How many days of paid holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer || len(a.Coverage.EmptySearches) != 1 {
		t.Errorf("answer %q, empty %q; want %q and 1 empty search", a.Markdown, a.Coverage.EmptySearches, goodAnswer)
	}
	if s := got.step("refine"); s.Details["query"] != "days paid holiday" {
		t.Errorf("step %v, want %q", s.Details, "days paid holiday")
	}
	if want := []string{"search_documents", "search_documents"}; !slices.Equal(got.tools(), want) {
		t.Errorf("tools %q, want %q", got.tools(), want)
	}
	h.hire(scripted.New(calls(search("zzyzx qwertz")), says(ground.RefusalSentence)),
		thinking(run.Features{Without: []string{"refine"}}))
	if h.answer(asks("How many days of paid holiday are there?")).has("refine") {
		t.Error("it can't be switched off")
	}
}

func TestAModelThatDoesNotUseItsToolsIsRescued(t *testing.T) {
	t.Parallel()
	bad := calls(call("search_the_web", `{}`))
	for _, tt := range []struct {
		name    string
		replies []scripted.Reply
	}{
		{"it calls what is not there", []scripted.Reply{bad, bad, bad, says(goodAnswer)}},
		{"it never calls anything", []scripted.Reply{says("There are 28."), says("28, I said."), says(goodAnswer)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, scripted.New(tt.replies...).JudgeBy(no))
			got := h.answer(asks("How many days of paid holiday are there?"))
			if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
				t.Errorf("answer %q, want %q", a.Markdown, goodAnswer)
			}
			if s := got.step("choose"); s.Details["by"] != "pipeline" {
				t.Errorf("choice %v, want %q", s.Details, "pipeline")
			}
			replies := append(slices.Clone(tt.replies[:len(tt.replies)-1]), says("28, really."))
			h.hire(scripted.New(replies...).JudgeBy(no), thinking(run.Features{NoRescue: true}))
			if got := h.answer(asks("How many days of paid holiday are there?")); got.has("choose") {
				t.Error("it can't be switched off")
			}
		})
	}
}

func TestARequestSwitchesAgentMode(t *testing.T) {
	t.Parallel()
	on, off := true, false
	for _, tt := range []struct {
		name  string
		set   run.Features
		asks  *bool
		tools []string
	}{
		{"off where the server has it on", run.Features{}, &off, []string{"search_documents", "read_document"}},
		{"on where the server has it off", run.Features{Pipeline: true}, &on, []string{"grep_documents"}},
		{"left out, on", run.Features{}, nil, []string{"grep_documents"}},
		{"left out, off", run.Features{Pipeline: true}, nil, []string{"search_documents", "read_document"}},
	} {
		model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
			if !r.NoTools && r.Turn() == 0 {
				return calls(call("grep_documents", `{"pattern":"holiday"}`))
			}
			return says(goodAnswer)
		})
		tt.set.Without = []string{"early_stop"}
		h := newHouse(t, model, thinking(tt.set))
		got := h.answer(chat.RunRequest{
			Message: "How many days of paid holiday are there?", Config: chat.RunConfig{UseAgentMode: tt.asks},
		})
		got.answer()
		if tools := slices.Compact(got.tools()); !slices.Equal(tools, tt.tools) {
			t.Errorf("%s: tools %q, want %q", tt.name, tools, tt.tools)
		}
	}
}

func TestChosenCallsAreThoseOfTheToolset(t *testing.T) {
	t.Parallel()
	for set, want := range map[string][]string{
		"cursor": {"search_documents", "read_document"}, "react": {"retrieve", "lookup"},
		"strategy":      {"hybrid_search", "read_document"},
		"documentation": {"retrieve_documentation"},
	} {
		h := newHouse(t,
			scripted.NewScript(func(scripted.Request) scripted.Reply {
				return says("The survey was made by Ada Brown [1].")
			}),
			thinking(run.Features{Without: []string{"early_stop"}}))
		got := h.answer(chat.RunRequest{
			Message: "Who was it that made this survey of ours?", Toolset: set,
			Config: chat.RunConfig{Selection: "rules"},
		})
		got.answer()
		if tools := slices.Compact(got.tools()); !slices.Equal(tools, want) {
			t.Errorf("%s: %q, want %q", set, tools, want)
		}
	}
}
