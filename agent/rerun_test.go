package agent

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// rerun starts a run from a step of another and waits for it.
func (h *house) rerun(runID, callID, input string) transcript {
	h.Helper()
	run, fresh, err := h.runs.Rerun(h.Context(), chat.Local, runID, callID, json.RawMessage(input), "")
	if err != nil || !fresh {
		h.Fatalf("Rerun = fresh %v, %v", fresh, err)
	}
	return h.wait(run.ID)
}

// validHistory fails the test unless every call has its result right behind it, under the same id and no other.
func validHistory(t *testing.T, messages []llm.Message) {
	t.Helper()
	var open []string
	for i, m := range messages {
		if m.Role == llm.RoleTool {
			if len(open) == 0 || open[0] != m.CallID {
				t.Errorf("message %d answers %q, waiting are %q; want some and %v", i, m.CallID, open, m.CallID)
				return
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			t.Errorf("message %d comes before the results of %q, want none", i, open)
		}
		for _, c := range m.Calls {
			if !json.Valid(c.Arguments) || c.ID == "" {
				t.Errorf("call %+v, want something", c)
			}
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		t.Errorf("no results for %q, want none", open)
	}
}

func TestAStepCanBeRunAgainWithAnotherInput(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		scripted.Reply{
			Text: "First the roof.", Calls: []llm.Call{call("search_documents", `{"query":"roof condition"}`)},
		},
		calls(call("read_document", `{"doc_id":"Survey.md"}`), call("search_documents", `{"query":"moisture"}`)),
		says("The roof covering is in poor condition [1]."),
		says("Employees have 28 days of paid holiday a year [4]."),
		says("The roof covering is in poor condition [1]."),
	)
	h := newHouse(t, model)
	first := h.answer(asks("What is the condition of the roof?"))
	before := first.answer()
	edited := first.step("read_document")
	second := h.rerun(first.runID, edited.CallID, `{"document_id":"Handbook.md"}`)
	after := second.answer()

	if n := len(model.Requests()); n != 4 {
		t.Errorf("the model was asked %d times, want once more than 3", n)
	}
	last := model.Requests()[3]
	validHistory(t, last.Messages)
	sent, err := json.Marshal(last.Messages)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"roof condition", "Handbook.md", "28 days of paid holiday", "moisture"} {
		if !strings.Contains(string(sent), want) {
			t.Errorf("the model was not told of %q", want)
		}
	}
	if strings.Contains(string(sent), "interrupted") {
		t.Error("the model was told that the call was interrupted")
	}
	if len(after.Citations) == 0 || !strings.Contains(after.Citations[0].Quote, "28 days") {
		t.Errorf("citations = %+v; want some citations and %q in it", after.Citations, "28 days")
	}
	old, again := first.step("search_documents"), second.step("search_documents")
	if again.CallID != old.CallID || !again.Cached || again.Tokens == nil || *again.Tokens != (chat.Tokens{}) ||
		string(again.ToolOutput) != string(old.ToolOutput) || again.Thought != old.Thought ||
		again.Details["repeated_from"] != first.runID || again.Timestamp != old.Timestamp {
		t.Errorf("repeated step = %+v\nof %+v", again, old)
	}
	read := second.step("read_document")
	if read.CallID != edited.CallID || read.Message != "Read Handbook.md" || read.Details["edited"] != true ||
		string(read.ToolInput) == string(edited.ToolInput) || read.ParentID != edited.ParentID {
		t.Errorf("edited step = %+v; want CallID %v, Message %q, true, other than %v, ParentID %v",
			read, edited.CallID, "Read Handbook.md", string(edited.ToolInput), edited.ParentID)
	}
	for _, s := range second.ended() {
		if s.Status == chat.StatusRunning {
			t.Errorf("%s is still running", s.CallID)
		}
	}
	// both versions are there
	run, err := h.store.Run(t.Context(), chat.Local, second.runID)
	if err != nil {
		t.Fatal(err)
	}
	if run.Request.Sibling != first.runID || run.ParentID != "" ||
		run.Request.Message != "What is the condition of the roof?" {
		t.Errorf("run = %+v; want Request.Sibling %v, ParentID nothing, Request.Message %q",
			run, first.runID, "What is the condition of the roof?")
	}
	if kept := h.wait(first.runID).answer(); kept.Markdown != before.Markdown {
		t.Errorf("the first version changed to %q, want %q", kept.Markdown, before.Markdown)
	}
	// and the new one can be gone on from
	third := h.rerun(second.runID, again.CallID, `{"query":"holiday"}`)
	if s := third.step("search_documents"); s.Details["edited"] != true ||
		!strings.Contains(string(s.ToolOutput), "Handbook") {
		t.Errorf("third run: %s", dump(third.log))
	}
}

func TestNumbersOfPassagesGoOnWhereTheRepeatedStepsEnd(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`)),
		calls(call("read_document", `{"doc_id":"Handbook.md"}`)),
		says("The roof covering is in poor condition [1]."),
		says("The roof covering is in poor condition [1]. Employees have 28 days of paid holiday [2]."),
	)
	h := newHouse(t, model, func(*Config) {})
	first := h.answer(asks("What is the condition of the roof?"))
	second := h.rerun(first.runID, first.step("read_document").CallID, `{"doc_id":"Survey.md","focus_query":"damp"}`)
	if a := second.answer(); a.Citations[0].Quote != first.answer().Citations[0].Quote {
		t.Errorf("[1] means %q, before %q", a.Citations[0].Quote, first.answer().Citations[0].Quote)
	}
}

func TestTheOfflineEngineGoesOnFromAnEditedStep(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil))
	first := h.answer(asks("What is the condition of the roof?"))
	second := h.rerun(first.runID, first.step("search_documents").CallID, `{"query":"paid holiday days"}`)
	second.answer()
	if s := second.step("search_documents"); !strings.Contains(string(s.ToolOutput), "Handbook") ||
		strings.Contains(string(s.ToolOutput), "Survey") {
		t.Errorf("the search found %s", s.ToolOutput)
	}
	if s := second.step("read_document"); s.Details["repeated_from"] != nil {
		t.Errorf("the step after the edited one was repeated: %+v, want none", s)
	}
}

func TestWhatCannotBeRunAgainIsRefused(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`), call("calculate", `{"expression":"2+2"}`)),
		says("The roof covering is in poor condition [1]."),
	)
	h := newHouse(t, model)
	first := h.answer(asks("What is the condition of the roof?"))
	search, sum := first.step("search_documents").CallID, first.step("calculate").CallID
	for _, tt := range []struct {
		name, call, input string
		scope             chat.Scope
		want              chat.Code
		says              string
	}{
		{"an unknown argument", search, `{"query":"roof","colour":"red"}`, chat.Local, chat.CodeInvalid, "colour"},
		{"a wrong type", search, `{"query":7}`, chat.Local, chat.CodeInvalid, "query"},
		{"a missing argument", search, `{}`, chat.Local, chat.CodeInvalid, "query"},
		{"what is no JSON", search, `{`, chat.Local, chat.CodeInvalid, "JSON"},
		{"a list", search, `[]`, chat.Local, chat.CodeInvalid, "JSON"},
		{"a calculation without an end", sum, `{"expression":"9**9**9"}`, chat.Local, chat.CodeInvalid,
			"The result is too large to calculate."},
		{"100 KB of brackets", sum,
			`{"expression":"` + strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000) + `"}`, chat.Local,
			chat.CodeInvalid, "of 1 to 1,000 characters"},
		{"a phase", first.step("analyse").CallID, `{}`, chat.Local, chat.CodeNotFound, ""},
		{"no step", "c99", `{}`, chat.Local, chat.CodeNotFound, ""},
		{"another user's", search, `{"query":"x"}`, chat.Scope{User: "mallory"}, chat.CodeNotFound, ""},
	} {
		_, _, err := h.runs.Rerun(t.Context(), tt.scope, first.runID, tt.call, json.RawMessage(tt.input), "")
		if err == nil || chat.CodeOf(err) != tt.want || !strings.Contains(chat.MessageOf(err), tt.says) {
			t.Errorf("%s: %v, want %s with %q", tt.name, err, tt.want, tt.says)
		}
	}
	busy := newHouse(t, thenHangs())
	run := busy.ask(asks("How many days of holiday are there?"))
	log := busy.follow(run.ID, isSearched)
	searched := transcript{t, run.ID, log}.step("search_documents")
	_, _, err := busy.runs.Rerun(t.Context(), chat.Local, run.ID, searched.CallID, json.RawMessage(`{"query":"x"}`), "")
	if err == nil || chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("of a run under way: %v, want %v", err, chat.CodeConflict)
	}
}

// A server that dies while the edited call is under way leaves a run that another one carries on with that very call.
func TestARunFromAStepIsCarriedOnAfterARestart(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("search_documents", `{"query":"roof condition"}`)),
		says("The roof covering is in poor condition [1]."),
		says("Employees have 28 days of paid holiday a year [1]."),
	)
	h := newHouse(t, model)
	first := h.answer(asks("What is the condition of the roof?"))
	search := first.step("search_documents")
	from := &chat.From{
		RunID: first.runID, CallID: search.CallID, Tool: "search_documents",
		Input: json.RawMessage(`{"max_results":10,"query":"holiday"}`),
	}
	old, err := h.store.Run(t.Context(), chat.Local, first.runID)
	if err != nil {
		t.Fatal(err)
	}
	req := old.Request
	req.Sibling, req.From = first.runID, from
	dead := chat.Lease{Owner: "dead", Until: time.Now().Add(-time.Minute)}
	run, _, err := h.store.StartRun(t.Context(), chat.LocalUser, req, dead)
	if err != nil {
		t.Fatal(err)
	}
	begun := search
	begun.Status, begun.ToolStatus, begun.ToolInput, begun.ToolOutput = chat.StatusRunning, chat.StatusRunning,
		from.Input, nil
	if err := h.feed.Append(t.Context(), "dead", run.ID, chat.RunStarted{Question: req.Message}, first.step("analyse"),
		begun); err != nil {
		t.Fatal(err)
	}
	if err := h.runs.takeOver(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	got := h.wait(run.ID)
	got.answer()
	if s := got.step("search_documents"); s.Status != chat.StatusComplete ||
		!strings.Contains(string(s.ToolOutput), "Handbook") {
		t.Errorf("the call came to %+v, want Status %v", s, chat.StatusComplete)
	}
	validHistory(t, model.Requests()[2].Messages)
}
