package agent

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/text/english"
)

func thinking(t run.Features) func(*Config) { return func(c *Config) { c.Features = t } }

// tools returns the names of the called tools, in order.
func (t transcript) tools() []string {
	out := []string{}
	for _, s := range t.ended() {
		if s.ToolName != "" {
			out = append(out, s.ToolName)
		}
	}
	return out
}

// readBefore runs a question whose answer cites the handbook and returns its session.
func readBefore(h *harness) string {
	h.Helper()
	h.startAgent(scripted.New(calls(search("paid holiday")), says(goodAnswer)))
	run := h.ask(asks("How many days of paid holiday are there?"))
	h.wait(run.ID).answer()
	return run.SessionID
}

// Each short path skips the model's tool selection, but not the tools that its answer needs.
func TestShortPathSkipsToolSelection(t *testing.T) {
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
			h := newHarness(t, scripted.New())
			req := asks(tt.question)
			if tt.later {
				req.SessionID = readBefore(h)
			}
			model := scripted.New(says(strings.Replace(tt.answer, "28 days [1].", "28 days.", 1)))
			h.startAgent(model)
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
			// the model may call tools for questions that the rules classify as talk
			free := tt.name == "talk" || tt.name == "transform"
			if seen := model.Requests(); len(seen) != 1 || seen[0].NoTools == free {
				t.Errorf("the model was asked %d times, want 1 with tools %v", len(seen), free)
			}
			for _, s := range got.ended() {
				if s.ToolName == "search_documents" && strings.Contains(string(s.ToolOutput), "Survey.md") {
					t.Errorf("search outside the named document: %s", s.ToolOutput)
				}
			}
			model = scripted.New(says(english.Refusal), says(english.Refusal),
				says(english.Refusal))
			h.startAgent(model, thinking(run.Features{Without: []string{"short_paths"}}))
			got = h.answer(req)
			if got.has("choose") && got.step("choose").Details["path"] != nil || model.Requests()[0].NoTools {
				t.Error("got a short path with the feature off, want none")
			}
		})
	}
}

func (t transcript) has(name string) bool {
	return slices.ContainsFunc(t.ended(), func(s chat.Step) bool { return s.Step == name })
}

// chosenBy returns the selector of the first tools, empty if the log has none.
func (t transcript) chosenBy() string {
	for _, s := range t.ended() {
		if by, ok := s.Details["by"].(string); ok && s.Step == "choose" {
			return by
		}
	}
	return ""
}

func TestInsufficientShortPathFallsBackToModel(t *testing.T) {
	t.Parallel()
	good := strings.Replace(goodAnswer, "[1]", "[1][2][3][4]", 1) // one of them is it
	model := scripted.New(says(english.Refusal), calls(search("paid holiday")), says(good))
	h := newHarness(t, model)
	got := h.answer(asks("What does Survey.md say about paid holiday?"))
	if a := got.answer(); !strings.HasPrefix(a.Markdown, goodAnswer[:20]) || got.text() != a.Markdown {
		t.Errorf("answer %q, want %q at its beginning", a.Markdown, goodAnswer[:20])
	}
	if seen := model.Requests(); len(seen) != 3 || seen[1].NoTools {
		t.Errorf("the model was asked %d times, want 3", len(seen))
	}
}

func TestSelectionReportsSelector(t *testing.T) {
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
			h := newHarness(t, model, thinking(tt.set))
			got := h.answer(chat.RunRequest{Message: tt.question, Config: chat.RunConfig{Selection: tt.asks}})
			got.answer()
			if len(model.Requests()) != tt.turns {
				t.Errorf("%d turns, want %d", len(model.Requests()), tt.turns)
			}
			if tt.by == "" {
				if got.has("choose") {
					t.Error("got a selection by rules, want none")
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
	if _, err := newHarness(t, scripted.New()).library, (run.Features{Selection: "dice"}).Check(); err == nil {
		t.Error("unknown selection: got no error, want one")
	}
	if err := (run.Features{Without: []string{"sleep"}}).Check(); err == nil ||
		!strings.Contains(err.Error(), "cached_decisions") {
		t.Errorf("an unknown feature: %v, want %q in it", err, "cached_decisions")
	}
}

func TestEarlyStopSkipsReading(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	ask := func(set run.Features) transcript {
		h.startAgent(scripted.New(says(goodAnswer)), thinking(set))
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

func TestModelSelectionIsCachedForSimilarQuestion(t *testing.T) {
	t.Parallel()
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if !r.NoTools && r.Turn() == 0 {
			return calls(search("entitled paid holiday"))
		}
		return says(goodAnswer)
	})
	h := newHarness(t, model, thinking(run.Features{Selection: tools.SelectAuto}))
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
		t.Errorf("input = %s, want the new question's words", s.ToolInput)
	}
	got = h.answer(asks("why and how are employees entitled to paid  holidays?"))
	if s := got.step("search_documents"); !strings.Contains(string(s.ToolInput), `"query":"entitled paid holiday"`) {
		t.Errorf("input = %s, want that of the same question", s.ToolInput)
	}
	if h.answer(asks("Why and how are employees not entitled to paid holidays?")).chosenBy() == "cache" {
		t.Error("opposite question: got the cached selection, want another")
	}
	if h.answer(asks("How are contractors entitled to a paid holiday, and why?")).chosenBy() == "cache" {
		t.Error("question in other words: got the cached selection, want another")
	}
	again := asks("How are employees entitled to a paid holiday, and why?")
	again.SessionID = all[chat.RunStarted](got)[0].SessionID
	again.Sibling = got.runID
	if h.answer(again).chosenBy() == "cache" {
		t.Error("repeated question: got the cached selection, want another")
	}
}

// Arguments that are not the question's words are not reused for another question.
func TestCachedSelectionExcludesArguments(t *testing.T) {
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
		h := newHarness(t, model, thinking(run.Features{Selection: tools.SelectAuto}))
		h.answer(asks("Why and how are employees entitled to paid holidays?")).answer()
		got := h.answer(asks("How are employees entitled to a paid holiday, and why?"))
		got.answer()
		if (got.chosenBy() == "cache") != (tt.want != nil) {
			t.Errorf("%s: selected by %q, want the cache: %v", tt.name, got.chosenBy(), tt.want != nil)
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

func TestEmptySearchIsRetriedInOtherWords(t *testing.T) {
	t.Parallel()
	script := func() *scripted.Model { return scripted.New(calls(search("zzyzx qwertz")), says(goodAnswer)) }
	h := newHarness(t, script())
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
	h.startAgent(scripted.New(calls(search("zzyzx qwertz")), says(english.Refusal)),
		thinking(run.Features{Without: []string{"refine"}}))
	if h.answer(asks("How many days of paid holiday are there?")).has("refine") {
		t.Error("got a step refine with the feature off, want none")
	}
}

func TestRunSearchesForModelWithoutToolCalls(t *testing.T) {
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
			h := newHarness(t, scripted.New(tt.replies...).JudgeBy(no))
			got := h.answer(asks("How many days of paid holiday are there?"))
			if a := got.answer(); a.Markdown != goodAnswer || len(a.Citations) != 1 {
				t.Errorf("answer %q, want %q", a.Markdown, goodAnswer)
			}
			if s := got.step("choose"); s.Details["by"] != "pipeline" {
				t.Errorf("choice %v, want %q", s.Details, "pipeline")
			}
			replies := append(slices.Clone(tt.replies[:len(tt.replies)-1]), says("28, really."))
			h.startAgent(scripted.New(replies...).JudgeBy(no), thinking(run.Features{NoRescue: true}))
			if got := h.answer(asks("How many days of paid holiday are there?")); got.has("choose") {
				t.Error("got a step choose with the feature off, want none")
			}
		})
	}
}

func TestRequestSwitchesAgentMode(t *testing.T) {
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
		h := newHarness(t, model, thinking(tt.set))
		got := h.answer(chat.RunRequest{
			Message: "How many days of paid holiday are there?", Config: chat.RunConfig{UseAgentMode: tt.asks},
		})
		got.answer()
		if tools := slices.Compact(got.tools()); !slices.Equal(tools, tt.tools) {
			t.Errorf("%s: tools %q, want %q", tt.name, tools, tt.tools)
		}
	}
}

func TestSelectedCallsBelongToToolset(t *testing.T) {
	t.Parallel()
	for set, want := range map[string][]string{
		"cursor": {"search_documents", "read_document"}, "react": {"retrieve", "lookup"},
		"strategy":      {"hybrid_search", "read_document"},
		"documentation": {"retrieve_documentation"},
	} {
		h := newHarness(t,
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

func remembering(m run.Memory) func(*Config) { return func(c *Config) { c.Memory = m } }

// Passages of an earlier answer can be cited in the next turn without another search.
func TestEarlierPassagesCanBeCited(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	session := readBefore(h)
	req := asks("Tell me more about that")
	req.SessionID = session
	const more = "Unused days may be carried over until 31 March of the following year [501]."
	model := scripted.New(says(more))
	h.startAgent(model)
	got := h.answer(req)
	a := got.answer()
	if a.Markdown != strings.Replace(more, "501", "1", 1) || len(a.Citations) != 1 || len(a.Unsupported) != 0 ||
		len(got.tools()) != 0 {
		t.Errorf("answer %q with %d citations after %q; want 1 citation and none",
			a.Markdown, len(a.Citations), got.tools())
	}
	system := model.Requests()[0].Messages[0].Text
	if !strings.Contains(system, "[501] (Staff handbook") || strings.Count(system, "Every employee is entitled") != 1 {
		t.Errorf("prompt has wrong numbers of passages, want [501] once:\n%s", system)
	}
	if strings.Contains(system, "conversation turn") || !strings.Contains(system, "Cite these passages") {
		t.Errorf("rules forbid the given passages:\n%s", system)
	}
	model = scripted.New(says(english.Refusal), says(english.Refusal))
	h.startAgent(model, remembering(run.Memory{Passages: -1}))
	h.answer(req).answer()
	if system := model.Requests()[0].Messages[0].Text; strings.Contains(system, "[501]") {
		t.Errorf("prompt without earlier passages has [501]:\n%s", system)
	}
}

// A follow-up is checked against the documents like the first question: only text of the conversation may be
// repeated without a footnote.
func TestFollowUpIsCheckedAgainstDocuments(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	session := readBefore(h)
	req := asks("How many days of holiday was that again?")
	req.SessionID = session
	const again = "Every employee is entitled to 28 days of paid holiday in each calendar year."
	h.startAgent(scripted.New(says(again), says(again)).JudgeBy(no))
	if a := h.answer(req).answer(); a.Markdown != again {
		t.Errorf("answer from the conversation = %q, want %q", a.Markdown, again)
	}
	const invented = "Ada Brown hid 900 gold coins below the kitchen floor."
	h.startAgent(scripted.New(says(invented), says(invented), says(invented), says(invented), says(invented)).
		JudgeBy(no))
	got := h.answer(req)
	if got.done().Status != chat.RunCitationValidationFailed || strings.Contains(got.text(), "gold") {
		t.Errorf("statement without a source: status %s, text %q; want status %s and no %q",
			got.done().Status, got.text(), chat.RunCitationValidationFailed, "gold")
	}
}

func TestConversationHistoryIsBounded(t *testing.T) {
	t.Parallel()
	turn := 0
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 && !r.NoTools {
			return calls(search("paid holiday"))
		}
		return says(goodAnswer)
	})
	h := newHarness(t, model, remembering(run.Memory{Questions: 3, Tokens: 200, Passages: 1}))
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
		t.Errorf("history = %q, want %q", said, want)
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
	h := newHarness(t, model, thinking(run.Features{ContextTokens: 1200}))
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
		t.Error("short run: got a step compact, want none")
	}
}

const askedInGerman = "Wie viele Tage bezahlten Urlaub bekommt eine Angestellte in jedem Jahr, und wann verfallen sie?"

// translates counts the requests of a model for a translation.
func translates(model *scripted.Model) (n int) {
	for _, r := range model.Requests() {
		if strings.HasPrefix(r.Messages[0].Text, "Translate what") {
			n++
		}
	}
	return n
}

func byRules(c *Config) { thinking(run.Features{Selection: tools.SelectRules})(c) }

// A query of the program is translated once by the model, if the documents are in another language.
func TestRuleQueryIsTranslatedOnce(t *testing.T) {
	t.Parallel()
	fails := scripted.Reply{Err: &llm.Error{Kind: llm.KindServer, Message: "it is out of order"}}
	for _, tt := range []struct {
		name, question string
		translation    scripted.Reply
		searched       string // empty: nothing is to be translated
		status         chat.Status
	}{
		{"another language", askedInGerman, says("days of paid\nholiday employee"), "days of paid holiday employee",
			chat.StatusComplete},
		{"the model fails", askedInGerman, fails, askedInGerman, chat.StatusError},
		{"it says nothing", askedInGerman, says(" "), askedInGerman, chat.StatusError},
		{"the same language", "How many days of paid holiday does an employee get?", says(goodAnswer), "", ""},
		{"too short to tell", "Urlaub?", says(goodAnswer), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := scripted.New(tt.translation, says(goodAnswer), says(goodAnswer), says(goodAnswer))
			h := newHarness(t, model, byRules)
			got := h.answer(asks(tt.question))
			if tt.searched == "" {
				if n := translates(model); n != 0 || got.has("translate") {
					t.Errorf("it was translated %d times, want 0", n)
				}
				return
			}
			if n := translates(model); n != 1 {
				t.Errorf("it was translated %d times, want once", n)
			}
			step := got.step("translate")
			if step.Status != tt.status || !strings.Contains(step.Message, "English") ||
				(step.Summary == tt.searched) != (tt.status == chat.StatusComplete) {
				t.Errorf("step %+v, want it %s, with English and the translation", step, tt.status)
			}
			search := got.step("search_documents")
			if !strings.Contains(string(search.ToolInput), `"query":"`+tt.searched+`"`) {
				t.Errorf("searched for %s, want %q", search.ToolInput, tt.searched)
			}
		})
	}
}

// A model that searches gets the documents' language in its prompt, without a further call.
func TestPromptNamesDocumentLanguage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, question, added string
		told                  bool
	}{
		{"another language", askedInGerman, "", true},
		{"the same language", "How many days of paid holiday does an employee get?", "", false},
		{"one document is in it", askedInGerman,
			"Die monatliche Miete ist bis zum dritten Werktag eines jeden Monats zu " +
				"zahlen, und der Mieter kann den Vertrag kündigen.", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := scripted.New(calls(search("paid holiday")), says(goodAnswer))
			h := newHarness(t, model)
			if tt.added != "" {
				h.add("Mietvertrag.txt", tt.added)
			}
			h.answer(asks(tt.question))
			prompt := model.Requests()[0].Messages[0].Text
			if told := strings.Contains(prompt, "the documents in reach are in English"); told != tt.told {
				t.Errorf("prompt names the language: got %v, want %v", told, tt.told)
			}
			if n := translates(model); n != 0 {
				t.Errorf("%d translations were asked for, want 0", n)
			}
		})
	}
}

// A refusal always lists the searches and the nearest passages.
func TestRefusalListsSearchesAndNearestPassages(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New(calls(search("holiday lunch")), says(english.Refusal)))
	got := h.answer(asks("What is for lunch?"))
	a := got.answer()
	rest, ok := strings.CutPrefix(a.Markdown, english.Refusal+" I searched for: holiday lunch.")
	if !ok || !strings.Contains(rest, "nearest heading") || !strings.Contains(rest, "“Leave” in Handbook.md") ||
		!strings.HasSuffix(rest, "If the document that says it is missing here, add it and ask again.") {
		t.Errorf("refusal = %q; want what was searched, the nearest heading, and the file that may be missing",
			a.Markdown)
	}
	if got.text() != a.Markdown || a.StopReason != chat.StopRefused || len(a.Unsupported)+len(a.Citations) > 0 {
		t.Errorf("shown %q, answer %+v; want the same text, and nothing unsupported", got.text(), a)
	}
	if slices.ContainsFunc(got.ended(), func(s chat.Step) bool { return s.Step == "review" }) {
		t.Error("got a review step, want the model's text unchanged")
	}
}
