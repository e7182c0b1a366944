package views

import (
	"testing"
	"time"

	"footnote/chat"
)

func TestTimesReadAsPeopleSayThem(t *testing.T) {
	for _, tt := range []struct {
		took        time.Duration
		row, header string
	}{
		{0, "<1s", "<1 s"},
		{999 * time.Millisecond, "<1s", "<1 s"},
		{2390 * time.Millisecond, "2.3s", "2.3 s"},
		{9999 * time.Millisecond, "9.9s", "9.9 s"},
		{14*time.Second + 700*time.Millisecond, "14s", "14 s"},
		{64 * time.Second, "1m 4s", "1 min 4 s"},
	} {
		if got := duration(tt.took.Milliseconds()); got != tt.row {
			t.Errorf("duration(%s) = %q, want %q", tt.took, got, tt.row)
		}
		if got := seconds(tt.took); got != tt.header {
			t.Errorf("seconds(%s) = %q, want %q", tt.took, got, tt.header)
		}
	}
}

func TestAGroupSaysWhatItsCallsHaveInCommon(t *testing.T) {
	call := func(tool string, action chat.Action, status chat.Status, title string) *Step {
		s := &Step{}
		s.Step = chat.Step{ToolName: tool, ActionType: action, Status: status, Result: &chat.StepResult{Title: title}}
		return s
	}
	read := func(title string) *Step { return call("read_document", chat.ActionReading, chat.StatusComplete, title) }
	search := call("search_documents", chat.ActionSearching, chat.StatusError, "")
	for _, tt := range []struct {
		name   string
		repeat bool
		status chat.Status
		calls  []*Step
		want   string
		result string
	}{
		{"documents read one after the other", true, chat.StatusComplete, []*Step{read("A"), read("B"), read("C")}, "Read 3 documents", ""},
		{"documents being read together", false, chat.StatusRunning, []*Step{read("A"), read("B")}, "Reading 2 documents in parallel", ""},
		{"a document read twice", true, chat.StatusComplete, []*Step{read("A"), read("A"), read("B")}, "Read 2 documents, 3 times", ""},
		{"searches, one of them failed", false, chat.StatusComplete, []*Step{search, call("search_documents", chat.ActionSearching, chat.StatusComplete, "")}, "2 searches in parallel", "1 failed"},
		{"calls of different tools", false, chat.StatusComplete, []*Step{read("A"), search}, "2 steps in parallel", "1 failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			group := &Step{Made: true, Repeat: tt.repeat, Children: tt.calls}
			group.Status = tt.status
			a := group.activity()
			got := a.Verb
			if a.Object != "" {
				got += " " + a.Object
			}
			if got != tt.want || tt.status == chat.StatusComplete && group.result() != tt.result {
				t.Errorf("got %q, %q, want %q, %q", got, group.result(), tt.want, tt.result)
			}
		})
	}
}

func TestOnlyAPassageThatWasOpenedOpens(t *testing.T) {
	s := &Step{}
	opened := func(hits ...chat.Hit) *chat.StepResult { return &chat.StepResult{Hits: hits} }
	s.Step = chat.Step{
		ToolName: "open_document", Capability: chat.CapabilityOpen, Status: chat.StatusComplete,
		Result: opened(chat.Hit{DocumentID: "d1", ChunkID: "p1", URL: "/d/d1?p=p1#b2"}),
	}
	if got, want := s.opens(), "/d/d1?p=p1#b2"; got != want {
		t.Errorf("opens = %q, want %q", got, want)
	}
	for _, result := range []*chat.StepResult{{Failure: "There is no passage."}, opened(chat.Hit{URL: "https://elsewhere.example/"}), nil} {
		other := &Step{Step: s.Step}
		other.Result = result
		if got := other.opens(); got != "" {
			t.Errorf("%+v opens %q, want nothing", result, got)
		}
	}
}

func TestCoverageOfAnAnswerWithoutASearch(t *testing.T) {
	for _, tt := range []struct {
		coverage chat.Coverage
		want     string
	}{
		{chat.Coverage{}, "Nothing was searched."},
		{chat.Coverage{Searched: 2}, "Searched 2 documents, opened 0."},
	} {
		if got := coverageText(tt.coverage); got != tt.want {
			t.Errorf("coverageText(%+v) = %q, want %q", tt.coverage, got, tt.want)
		}
	}
}
