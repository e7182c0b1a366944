package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// examples holds a payload of every kind with every field set.
var examples = map[Kind]Payload{
	KindRunStarted: RunStarted{
		SessionID: "s", Question: "Wie <tief>?\n\u2028", Model: "m", Mode: ModeFullBook, Toolset: "cursor",
		Budget: Budget{Steps: 1, RetrievalCalls: 2, Seconds: 3, Tokens: 4},
	},
	KindReasoningStep: Step{
		CallID: "c", ParentID: "p", Step: "search_documents", ActionType: ActionSearching, Message: "Searching",
		Title: "t", Thought: "th", Timestamp: 1.5, ToolName: "search_documents",
		ToolInput:  json.RawMessage(`{"query":"a"}`),
		ToolOutput: json.RawMessage(`{"error":"x"}`), Status: StatusError, ToolStatus: StatusError, Summary: "s",
		DurationMS: 7,
		OutputSize: 13, Truncated: true, Cached: true, Tokens: &Tokens{In: 1, Out: 2}, Cost: new(0.002),
		Error:      &StepError{Code: CodeTimeout, Message: "m", Retryable: true},
		Details:    map[string]any{"k": "v", "n": 1.0},
		Capability: CapabilitySearch, Result: &exampleResult,
		Label: &Label{Doing: "Seeking", Done: "Sought", Noun: "search", Argument: "query", Form: LabelQuote},
	},
	KindAnswerDelta: AnswerDelta{Text: "data: x\r\n\r\nid: 7\n\x00"},
	KindAnswerReset: AnswerReset{CallID: "c"},
	KindCitation:    exampleCitation,
	KindAnswer: Answer{Markdown: "Deep [1].", Citations: []Citation{exampleCitation},
		Sources: []Source{
			{Number: 1, DocumentID: "d", Title: "t", Filename: "t.pdf", SourceURL: "https://example.org/t",
				Section: "s", URL: "u", Cited: true},
		},
		Unsupported: []string{"u"}, Confidence: 0.5, SelfEvaluation: "e",
		Coverage:  Coverage{Searched: 1, Opened: 2, PagesRead: 3, EmptySearches: []string{"q"}},
		StepsUsed: 4, Tokens: Tokens{In: 5, Out: 6}, Cost: new(0.01), LatencyMS: 8, StopReason: StopMaxSteps,
		FollowUps: []string{"f"}},
	KindStartOver: Reset{Last: 9},
	KindRunDone:   RunDone{Status: RunFailed, Error: &StepError{Code: CodeModelFailed, Message: "m", Retryable: true}},
}

var exampleResult = StepResult{
	Query: "q", Found: 2, Title: "t",
	Hits: []Hit{{
		N: 1, DocumentID: "d", ChunkID: "ch", BlockID: "b12", Title: "t", Filename: "t.pdf", MIME: "application/pdf",
		SourceURL: "https://example.org/t", Page: 3,
		Section: "a › b", Score: new(0.5), Similarity: new(0.25), Snippet: "sn", Matches: [][2]int{{0, 2}}, Note: "n",
		Sub: true, URL: "/d/d?start=1&end=2",
	}},
	Opened: []OpenedPart{{DocumentID: "d", Part: "1"}}, Quote: &QuotedWords{N: 1, Words: "w"}, Formula: "1 + 1",
	Value:   "2",
	Parts:   []PlanPart{{Query: "q", Reasoning: "r", DependsOn: []int{0}, Status: StatusComplete}},
	Outline: []string{"o"}, Text: "te", Facts: []Fact{{Name: "f", Value: "v"}}, Notes: []string{"n"}, Failure: "x",
}

var exampleCitation = Citation{
	Number: 1, DocumentID: "d", ChunkID: "ch", BlockID: "b12", Title: "t", Filename: "t.pdf",
	SourceURL: "https://example.org/t", Section: "a › b", Page: 3,
	Quote: "q", Claimed: "cl", Start: 4, End: 5, Boxes: []Box{{3, 0.1, 0.2, 0.3, 0.4}}, URL: "/d/d?c=r.1",
	Check: CheckApproximate,
	Score: 0.9, SHA256: "ff",
}

func TestEveryKindSurvivesARoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			want, ok := examples[kind]
			if !ok {
				t.Fatalf("%s has no example", kind)
			}
			if want.Kind() != kind {
				t.Fatalf("the example of %s is a %s", kind, want.Kind())
			}
			event, err := NewEvent("run", want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := event.Payload()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
		})
	}
	if len(examples) != len(Kinds) {
		t.Errorf("%d examples for %d kinds, want %d examples", len(examples), len(Kinds), len(Kinds))
	}
}

func TestTheJSONStartsWithTypeRunAndNumber(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		event, err := NewEvent("run", examples[kind])
		if err != nil {
			t.Fatal(err)
		}
		event.Seq, event.At = 12, time.Now()
		raw := string(event.AppendJSON([]byte("before ")))
		start := fmt.Sprintf(`before {"type":"%s","run_id":"run","seq":12,"`, kind)
		if !strings.HasPrefix(raw, start) {
			t.Errorf("AppendJSON = %s, want it to start with %s", raw, start)
		}
		var all, body map[string]any
		if err := errors.Join(json.Unmarshal([]byte(raw[len("before "):]), &all),
			json.Unmarshal(event.Body, &body)); err != nil {
			t.Fatalf("%s: %v, want no error", raw, err)
		}
		body["type"], body["run_id"], body["seq"] = string(kind), "run", 12.0
		if diff := cmp.Diff(body, all); diff != "" {
			t.Errorf("%s (-body +JSON):\n%s", kind, diff)
		}
		if strings.ContainsAny(raw, "\r\n") {
			t.Errorf("%s: a line break in %q would end a line of the stream", kind, raw)
		}
	}
}

func TestAnEmptyBodyIsStillAnObject(t *testing.T) {
	t.Parallel()
	event := Event{RunID: "r", Seq: 1, Type: KindRunDone, Body: json.RawMessage(`{}`)}
	if got, want := string(event.AppendJSON(nil)), `{"type":"run_done","run_id":"r","seq":1}`; got != want {
		t.Errorf("AppendJSON = %s, want %s", got, want)
	}
}

func TestTheWholeOutputIsNotInTheEvent(t *testing.T) {
	t.Parallel()
	event, err := NewEvent("run", Step{Full: json.RawMessage(`"canary"`)})
	if err != nil || strings.Contains(string(event.Body), "canary") {
		t.Errorf("body = %s, %v; want it without Full", event.Body, err)
	}
}

func TestWhatCannotBeDecodedIsAnError(t *testing.T) {
	t.Parallel()
	for _, event := range []Event{
		{Type: "from_the_future", Body: json.RawMessage(`{}`)},
		{Type: KindAnswer, Body: json.RawMessage(`{"answer":`)},
		{Type: KindAnswer, Body: json.RawMessage(`{"answer":5}`)},
	} {
		if p, err := event.Payload(); err == nil || p != nil {
			t.Errorf("Payload of %s %s = %v, %v; want an error alone", event.Type, event.Body, p, err)
		}
	}
}

func TestCodesAndMessagesComeFromTheChain(t *testing.T) {
	t.Parallel()
	cause := errors.New("secret")
	err := fmt.Errorf("outer: %w", &Error{Code: CodeDiskFull, Message: "Full.", Err: cause})
	if CodeOf(err) != CodeDiskFull || MessageOf(err) != "Full." || !errors.Is(err, cause) {
		t.Errorf("CodeOf, MessageOf = %s, %q; want %s, %q, %v",
			CodeOf(err), MessageOf(err), CodeDiskFull, "Full.", cause)
	}
	if CodeOf(cause) != CodeInternal || strings.Contains(MessageOf(cause), "secret") {
		t.Errorf("an unknown error: %s, %q; want %s and no %q in it",
			CodeOf(cause), MessageOf(cause), CodeInternal, "secret")
	}
}
