package views

import (
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
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
		if got := duration(t.Context(), tt.took.Milliseconds()); got != tt.row {
			t.Errorf("duration(t.Context(), %s) = %q, want %q", tt.took, got, tt.row)
		}
		if got := seconds(t.Context(), tt.took); got != tt.header {
			t.Errorf("seconds(t.Context(), %s) = %q, want %q", tt.took, got, tt.header)
		}
	}
}

func TestAGroupSaysWhatItsCallsHaveInCommon(t *testing.T) {
	call := func(label chat.Label, action chat.Action, status chat.Status, title string) *Step {
		s := &Step{}
		s.Step = chat.Step{
			ToolName: label.Doing, Label: &label, ActionType: action, Status: status,
			Result: &chat.StepResult{Title: title},
		}
		return s
	}
	reading := chat.Label{Doing: "Reading", Done: "Read", Argument: "doc_id", Form: chat.LabelTitle}
	searching := chat.Label{
		Doing: "Searching for", Done: "Searched for", Noun: "search", Argument: "query", Form: chat.LabelQuote,
	}
	read := func(title string) *Step { return call(reading, chat.ActionReading, chat.StatusComplete, title) }
	search := call(searching, chat.ActionSearching, chat.StatusError, "")
	for _, tt := range []struct {
		name   string
		repeat bool
		status chat.Status
		calls  []*Step
		want   string
		result string
	}{
		{"documents read one after the other", true, chat.StatusComplete, []*Step{read("A"), read("B"), read("C")},
			"Read 3 documents", ""},
		{"documents being read together", false, chat.StatusRunning, []*Step{read("A"), read("B")},
			"Reading 2 documents in parallel", ""},
		{"a document read twice", true, chat.StatusComplete, []*Step{read("A"), read("A"), read("B")},
			"Read 2 documents, 3 times", ""},
		{"searches, one of them failed", false, chat.StatusComplete,
			[]*Step{search, call(searching, chat.ActionSearching, chat.StatusComplete, "")}, "2 searches in parallel",
			"1 failed"},
		{"calls of different tools", false, chat.StatusComplete, []*Step{read("A"), search}, "2 steps in parallel",
			"1 failed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			group := &Step{Grouping: true, Repeat: tt.repeat, Children: tt.calls}
			group.Status = tt.status
			a := group.activity(t.Context())
			got := a.Verb
			if a.Object != "" {
				got += " " + a.Object
			}
			if got != tt.want || tt.status == chat.StatusComplete && group.result(t.Context()) != tt.result {
				t.Errorf("got %q, %q, want %q, %q", got, group.result(t.Context()), tt.want, tt.result)
			}
		})
	}
}

func TestAStepIsDrawnInTheWordsOfItsTool(t *testing.T) {
	quoted := chat.Label{Doing: "Seeking", Done: "Sought", Argument: "what", Form: chat.LabelQuote}
	titled := chat.Label{Doing: "Leafing through", Done: "Leafed through", Argument: "id", Form: chat.LabelTitle}
	bare := chat.Label{Doing: "Tidying up", Done: "Tidied up"}
	for _, tt := range []struct {
		name   string
		step   chat.Step
		want   activity
		result string
	}{
		{"words, under way", chat.Step{Label: &quoted, Status: chat.StatusRunning, Message: "Seeking roof"},
			activity{"Seeking", "roof", "quote"}, ""},
		{"words, over", chat.Step{Label: &quoted, Status: chat.StatusComplete, Message: "Found 3 documents"},
			activity{"Sought", "roof", "quote"}, "Found 3 documents"},
		{"words, failed", chat.Step{Label: &quoted, Status: chat.StatusError},
			activity{"Failed: seeking", "roof", "quote"}, ""},
		{"words of an argument that has gone", chat.Step{
			Label:  &chat.Label{Doing: "Seeking", Done: "Sought", Argument: "gone", Form: chat.LabelCode},
			Status: chat.StatusComplete, Result: &chat.StepResult{Query: "slate"},
		}, activity{"Sought", "slate", "code"}, ""},
		{"a document by its result", chat.Step{
			Label: &titled, Status: chat.StatusComplete, Message: "Done", Result: &chat.StepResult{Title: "Survey"},
		}, activity{"Leafed through", "Survey", ""}, ""},
		{"a document by the message", chat.Step{Label: &titled, Message: "Leafing through Survey.pdf"},
			activity{"Leafing through", "Survey.pdf", ""}, ""},
		{"a document by the argument", chat.Step{Label: &titled, Message: "A moment"},
			activity{"Leafing through", "d1", ""}, ""},
		{"nothing", chat.Step{Label: &bare, Status: chat.StatusComplete, Message: "Tidied up the shelf"},
			activity{"Tidied up", "", ""}, ""},
		{"a tool without words", chat.Step{Status: chat.StatusComplete, Message: "Called weather: today"},
			activity{"Called", "weather: today", ""}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.step.ToolName, tt.step.ToolInput = "of_tomorrow", []byte(`{"what":"roof","id":"d1"}`)
			s := &Step{Step: tt.step}
			if got := s.activity(t.Context()); got != tt.want {
				t.Errorf("activity = %+v, want %+v", got, tt.want)
			}
			if got := s.result(t.Context()); got != tt.result {
				t.Errorf("result = %q, want %q", got, tt.result)
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
	for _, result := range []*chat.StepResult{
		{Failure: "There is no passage."}, opened(chat.Hit{URL: "https://elsewhere.example/"}), nil,
	} {
		other := &Step{Step: s.Step}
		other.Result = result
		if got := other.opens(); got != "" {
			t.Errorf("%+v opens %q, want nothing", result, got)
		}
	}
}

func TestSourceCountsNameOnlyWhatWasRead(t *testing.T) {
	for opened, want := range map[int]string{0: "1 cited", 1: "1 cited · 1 read", 3: "1 cited · 3 read"} {
		turn := Turn{Final: &chat.Answer{
			Sources: []chat.Source{{Number: 1, Cited: true}}, Coverage: chat.Coverage{Searched: 4, Opened: opened},
		}}
		if got := turn.sourceCounts(t.Context()); got != want {
			t.Errorf("%d documents opened: %q, want %q", opened, got, want)
		}
	}
}

func TestCoverageOfAnAnswerWithoutASearch(t *testing.T) {
	for _, tt := range []struct {
		coverage chat.Coverage
		want     string
	}{
		{chat.Coverage{}, "Nothing was searched."},
		{chat.Coverage{Searched: 2}, "Searched 2 documents."},
		{chat.Coverage{Searched: 2, Opened: 1}, "Searched 2 documents, opened 1."},
	} {
		if got := coverageText(t.Context(), tt.coverage); got != tt.want {
			t.Errorf("coverageText(t.Context(), %+v) = %q, want %q", tt.coverage, got, tt.want)
		}
	}
}
