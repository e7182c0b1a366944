package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
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

func TestEventRoundTrip(t *testing.T) {
	t.Parallel()
	for _, kind := range Kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			want, ok := examples[kind]
			if !ok {
				t.Fatalf("%s lacks an example", kind)
			}
			if want.Kind() != kind {
				t.Fatalf("example of %s is a %s", kind, want.Kind())
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

func TestEventJSONStartsWithTypeRunAndSequence(t *testing.T) {
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
			t.Errorf("%s: line break in %q", kind, raw)
		}
	}
}

func TestEmptyEventBodyIsObject(t *testing.T) {
	t.Parallel()
	event := Event{RunID: "r", Seq: 1, Type: KindRunDone, Body: json.RawMessage(`{}`)}
	if got, want := string(event.AppendJSON(nil)), `{"type":"run_done","run_id":"r","seq":1}`; got != want {
		t.Errorf("AppendJSON = %s, want %s", got, want)
	}
}

func TestEventOmitsFullOutput(t *testing.T) {
	t.Parallel()
	event, err := NewEvent("run", Step{Full: json.RawMessage(`"canary"`)})
	if err != nil || strings.Contains(string(event.Body), "canary") {
		t.Errorf("body = %s, %v; want it without Full", event.Body, err)
	}
}

func TestInvalidEventIsError(t *testing.T) {
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

func TestErrorCodeAndMessageComeFromChain(t *testing.T) {
	t.Parallel()
	cause := errors.New("secret")
	err := fmt.Errorf("outer: %w", &Error{Code: CodeDiskFull, Message: "Full.", Err: cause})
	if CodeOf(err) != CodeDiskFull || MessageOf(err).String() != "Full." || !errors.Is(err, cause) {
		t.Errorf("CodeOf, MessageOf = %s, %q; want %s, %q, %v",
			CodeOf(err), MessageOf(err).String(), CodeDiskFull, "Full.", cause)
	}
	if CodeOf(cause) != CodeInternal || strings.Contains(MessageOf(cause).String(), "secret") {
		t.Errorf("an unknown error: %s, %q; want %s and no %q in it",
			CodeOf(cause), MessageOf(cause).String(), CodeInternal, "secret")
	}
}

func woken(wake <-chan struct{}) bool {
	select {
	case <-wake:
		return true
	default:
		return false
	}
}

func TestSessionSubscribersReceiveOnlyItsRuns(t *testing.T) {
	f := NewFeed(nil)
	mine, stopMine := f.WatchSession("anna", "s1")
	other, stopOther := f.WatchSession("ben", "s1")
	defer stopOther()
	one, two := mine(), other()
	f.Begin(Run{ID: "r1", User: "anna", SessionID: "s1"})
	if !woken(one) || woken(two) {
		t.Errorf("after a run of anna's: anna woken %t, ben %t, want true and false", woken(one), woken(two))
	}
	if woken(mine()) {
		t.Error("next channel is closed, want it open")
	}
	one, two = mine(), other()
	f.Wake("of another process")
	if !woken(one) || !woken(two) {
		t.Errorf("after a run of another process: anna woken %t, ben %t, want both", woken(one), woken(two))
	}
	stopMine()
	stopMine()
	if n := len(f.sessions.open); n != 1 {
		t.Errorf("%d sessions are watched after one was left, want 1", n)
	}
}

func TestNewIDIsUUIDv7(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 1000 {
		id := NewID()
		if !form.MatchString(id) || seen[id] {
			t.Fatalf("NewID() = %q: not a UUIDv7, or not the first of its kind", id)
		}
		seen[id] = true
	}
}

func TestNewIDsSortByMillisecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.UnixMilli(0x0198_0000_fffe))) // to include a carry
		last := NewID()
		for range 1000 {
			time.Sleep(time.Millisecond)
			id := NewID()
			if id <= last {
				t.Fatalf("%s was made a millisecond before %s, but does not sort before it, want more than %s",
					last, id, last)
			}
			last = id
		}
	})
}

func TestNewIDContainsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.UnixMilli(0x0234_5678_9abc))) // in 2047: times of one process only increase
		if got := NewID(); !strings.HasPrefix(got, "02345678-9abc-7") {
			t.Errorf("NewID() = %q, want the time 023456789abc first", got)
		}
	})
}

func TestCheckSessionID(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, id string
		ok       bool
	}{
		{"a UUID", NewID(), true},
		{"one letter", "a", true},
		{"every kind of character", "aZ09_-", true},
		{"128 characters", strings.Repeat("x", 128), true},
		{"129 characters", strings.Repeat("x", 129), false},
		{"nothing", "", false},
		{"a space", "a b", false},
		{"a letter that is not ASCII", "ü", false},
		{"a path", "../x", false},
		{"a line break at the end", "a\n", false},
		{"a NUL", "a\x00", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := CheckSessionID(tt.id)
			if tt.ok && err != nil {
				t.Errorf("CheckSessionID(%q) = %v, want nil", tt.id, err)
			}
			if !tt.ok && (err == nil || CodeOf(err) != CodeInvalid) {
				t.Errorf("CheckSessionID(%q) = %v, want %s", tt.id, err, CodeInvalid)
			}
		})
	}
}

func TestLimitErrorNamesLimitAndReset(t *testing.T) {
	now := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		limit LimitName
		most  int64
		until time.Time
		want  string
		code  Code
		wait  time.Duration
	}{
		{RunsAtOnce, 4, time.Time{},
			"You have reached the limit of 4 active questions. Try again when one is done.", CodeTooMany,
			5 * time.Second},
		{RunsAtOnce, 1, time.Time{},
			"You have reached the limit of 1 active question. Try again when one is done.", CodeTooMany,
			5 * time.Second},
		{QuestionsPerDay, 1, now.Add(time.Hour),
			"You have reached the limit of 1 question in 24 hours. Try again at 2026-03-01T23:00:00Z.",
			CodeTooMany, time.Hour},
		{SearchesPerMinute, 1, now.Add(500 * time.Millisecond),
			"You have reached the limit of 1 search per minute. Try again in a second.", CodeTooMany,
			time.Second},
		{QuestionsPerMinute, 20, now.Add(12500 * time.Millisecond),
			"You have reached the limit of 20 questions per minute. Try again in 13 seconds.",
			CodeTooMany, 12500 * time.Millisecond},
		{QuestionsPerDay, 100, now.Add(time.Hour),
			"You have reached the limit of 100 questions in 24 hours. Try again at 2026-03-01T23:00:00Z.",
			CodeTooMany, time.Hour},
		{QuestionsPerDay, 100, now.Add(3 * time.Hour),
			"You have reached the limit of 100 questions in 24 hours. Try again at 2026-03-02T01:00:00Z.",
			CodeTooMany, 3 * time.Hour},
		{TokensPerDay, 1_000_000, now.Add(3 * time.Hour),
			"You have reached the limit of 1,000,000 tokens in 24 hours. Try again at 2026-03-02T01:00:00Z.",
			CodeTooMany, 3 * time.Hour},
		{SearchesPerMinute, 120, now.Add(500 * time.Millisecond),
			"You have reached the limit of 120 searches per minute. Try again in a second.",
			CodeTooMany, time.Second},
		{FilesPerDay, 500, now.Add(3 * time.Hour),
			"You have reached the limit of 500 files in 24 hours. Try again at 2026-03-02T01:00:00Z.",
			CodeTooMany, 3 * time.Hour},
		{UploadMiBPerDay, 1024, now.Add(3 * time.Hour),
			"This file exceeds the upload limit of 1,024 MiB in 24 hours. Try again at 2026-03-02T01:00:00Z.",
			CodeTooMany, 3 * time.Hour},
		{UploadMiBPerDay, 1, time.Time{},
			"This file exceeds the upload limit of 1 MiB in 24 hours. This request alone exceeds the limit.",
			CodeTooMany, 5 * time.Second},
		{DiskMiB, 10_240, time.Time{},
			"This file exceeds your storage quota of 10,240 MiB. Delete documents first.", CodeDiskFull, time.Minute},
		{StreamsAtOnce, 100, time.Time{},
			"You have reached the limit of 100 live streams. Close some and try again.", CodeTooMany,
			5 * time.Second},
		{DiskReserveMiB, 256, time.Time{},
			"The server's disk is nearly full. The last 256 MiB are reserved for questions. Delete documents, or " +
				"contact your administrator.", CodeDiskFull, time.Minute},
	} {
		err := Limits{tt.limit: tt.most}.Over(tt.limit, now, tt.until)
		over, ok := errors.AsType[*OverLimit](err)
		if !ok || err.Message.String() != tt.want || err.Code != tt.code || over.Wait != tt.wait ||
			!over.Until.Equal(tt.until) {
			t.Errorf("%s until %v:\n got %q, %s, %+v\nwant %q, %s, wait %v", tt.limit, tt.until, err.Message, err.Code,
				over, tt.want, tt.code, tt.wait)
		}
	}
}

func TestLimitTableIsComplete(t *testing.T) {
	seen := map[LimitName]bool{}
	for _, l := range AllLimits() {
		if seen[l.Name] || l.About == "" || l.Default < 0 || l.code == "" || l.over == "" || l.again == "" ||
			(l.Spends == "") != (l.Span == 0) {
			t.Errorf("limit %q: %+v; want something, Default at least 0, something, something, something", l.Name, l)
		}
		seen[l.Name] = true
		if most, holds := (Limits{l.Name: 3}).Of(l.Name); !holds || most < 3 || most%3 != 0 {
			t.Errorf("3 of the limit %s: %d, %v; want at least 3", l.Name, most, holds)
		}
		if _, holds := (Limits{}).Of(l.Name); holds {
			t.Errorf("limit %s applies without a number", l.Name)
		}
	}
	if (Limits{RunsAtOnce: 1}).For(LocalUser) != nil {
		t.Error("local user has limits, want none")
	}
}

func TestLinkContainsQuoteAndPosition(t *testing.T) {
	for _, tt := range []struct {
		name string
		link Link
		want string
	}{
		{"a document", Link{Document: "d1"}, "/d/d1"},
		{"a footnote", Link{Document: "d1", Citation: CitationName("run", 3)}, "/d/d1?c=run.3"},
		{"a passage on a later page", Link{Document: "d1", Passage: "p1", Page: 4}, "/d/d1?p=p1&page=4"},
		{"a passage at one of its blocks", Link{Document: "d1", Passage: "p1", Fragment: "b7"}, "/d/d1?p=p1#b7"},
		{"words from the first rune on", Link{Document: "d1", Start: 0, End: 5}, "/d/d1?end=5&start=0"},
		{"several pieces", Link{Document: "d1", Start: 3, End: 5, Also: Ranges{{7, 9}, {12, 20}}},
			"/d/d1?also=7-9%2C12-20&end=5&start=3"},
		{"no words", Link{Document: "d1", Start: 5, End: 5}, "/d/d1"},
		{"a block", Link{Document: "d1", Block: "b7"}, "/d/d1?b=b7"},
		{"another part with the same mark", Link{Document: "d1", Passage: "p1", At: "b9", Fragment: "b8"},
			"/d/d1?at=b9&p=p1#b8"},
		{"ids that are no words", Link{Document: "a/b?c#d e", Passage: "x&y"}, "/d/a%2Fb%3Fc%23d%20e?p=x%26y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.link.String(); got != tt.want {
				t.Errorf("link = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestParseRanges(t *testing.T) {
	for text, ok := range map[string]bool{
		"": true, "7-9": true, "7-9,9-20": true, "0-1": true, "9-7": false, "7-9,8-12": false, "7": false, "x-9": false,
		"-1-2": false, "7-99999999999": false, "7-9,": false, strings.Repeat("1-2,", 200) + "3-4": false,
	} {
		r, got := ReadRanges(text)
		if got != ok || ok && r.String() != text {
			t.Errorf("%q: %v, %v; want %v", text, r, got, ok)
		}
	}
}

// testdata/old_steps.json has steps of every tool from a version without results; old_results.json has the expected
// results.
func TestOldStepsGetResult(t *testing.T) {
	t.Parallel()
	var steps []json.RawMessage
	readJSON(t, "testdata/old_steps.json", &steps)
	var want []*StepResult
	readJSON(t, "testdata/old_results.json", &want)
	var got []*StepResult
	for i, body := range steps {
		payload, err := Event{RunID: "run", Seq: int64(i + 1), Type: KindReasoningStep, Body: body}.Payload()
		if err != nil {
			t.Fatalf("step %d: %v, want no error", i, err)
		}
		got = append(got, payload.(Step).Result)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestForeignOutputsGetResult(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, output string
		want         *StepResult
	}{
		{"no object", `"words"`, nil},
		{"an empty object", `{}`, &StepResult{}},
		{"fields of other types",
			`{"documents":7,"passages":{"a":1},"notes":"one","total_found":"x","error":null,"page":"iv"}`,
			&StepResult{Notes: []string{"one"}, Facts: []Fact{{"page", "iv"}, {"total_found", "x"}}}},
		{"a list with something else in it",
			`{"results":[{"title":7},3],"matches":[{"doc_id":"d","block_id":"b2","filename":"a.md","line":"A line"}]}`,
			&StepResult{Found: 1, Hits: []Hit{{DocumentID: "d", BlockID: "b2", Title: "a.md", Snippet: "A line"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := Step{ToolName: "foreign", ToolOutput: json.RawMessage(tt.output), Status: StatusComplete}
			importStep(&s)
			if diff := cmp.Diff(tt.want, s.Result); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOldStepsGetCapabilityLabel(t *testing.T) {
	t.Parallel()
	own := Label{Doing: "Seeking", Done: "Sought"}
	for _, tt := range []struct {
		step Step
		want string
	}{
		{Step{ToolName: "grep_documents"}, "Searched for"},
		{Step{ToolName: "unknown", Capability: CapabilityRead}, "Read"},
		{Step{ToolName: "finish"}, "Finished"},
		{Step{ToolName: "search_documents", Label: &own}, "Sought"},
		{Step{ToolName: "weather"}, ""},
		{Step{Step: "planning"}, ""},
	} {
		importStep(&tt.step)
		var got string
		if tt.step.Label != nil {
			got = tt.step.Label.Done
		}
		if got != tt.want {
			t.Errorf("step of %q reads %q, want %q", tt.step.ToolName, got, tt.want)
		}
	}
}

func TestResultIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1000)
	r := StepResult{Text: strings.Repeat("x", 20_000)}
	for i := range 60 {
		r.Hits = append(r.Hits, Hit{
			N: i + 1, DocumentID: "d", ChunkID: "p", Title: "T", Snippet: long, Matches: [][2]int{{0, 4}, {230, 250}},
		})
	}
	got := r.Bounded()
	first, last := got.Hits[0], got.Hits[59]
	if n := len([]rune(first.Snippet)); n != MaxSnippet || len(first.Matches) != 1 {
		t.Errorf("snippet has %d runes and %d matches, want %d and 1", n, len(first.Matches), MaxSnippet)
	}
	if want := (Hit{N: 60, DocumentID: "d", ChunkID: "p"}); !cmp.Equal(last, want) {
		t.Errorf("hit behind the %dth = %+v, want %+v", MaxHits, last, want)
	}
	if n := len([]rune(got.Text)); n != maxText {
		t.Errorf("text has %d runes, want %d", n, maxText)
	}
	if len([]rune(r.Hits[0].Snippet)) != 1000 {
		t.Error("the result that was bounded has changed, want it as it was")
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v, want no error", path, err)
	}
}

func TestTitleOf(t *testing.T) {
	t.Parallel()
	sixty := strings.Repeat("word ", 11) + "fives" // 55 + 5 runes
	for _, tt := range []struct{ name, question, want string }{
		{"a short question is its own title", "What is RRF?", "What is RRF?"},
		{"white space is collapsed", "  What \t is\u00a0RRF?  ", "What is RRF?"},
		{"only the first line that is not blank counts", "\n \nFirst\nSecond", "First"},
		{"exactly 60 runes are kept", sixty, sixty},
		{"a 61st rune drops its whole word", sixty + "x", strings.Repeat("word ", 10) + "word…"},
		{"a word that ends at the limit is kept", sixty + " more", sixty + "…"},
		{"a script without spaces is cut at 60 runes", strings.Repeat("漢", 70), strings.Repeat("漢", 60) + "…"},
		{"a blank question has no title", " \n\t", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := TitleOf(tt.question); got != tt.want {
				t.Errorf("TitleOf(%q) = %q, want %q", tt.question, got, tt.want)
			}
		})
	}
}

func TestRequestLimits(t *testing.T) {
	t.Parallel()
	names := func(n int) []string { return strings.Fields(strings.Repeat("d ", n)) }
	for _, tt := range []struct {
		name string
		set  func(*RunRequest)
		want string // a part of the message; empty: valid
	}{
		{"a question is enough", func(*RunRequest) {}, ""},
		{"blank", func(r *RunRequest) { r.Message = " \u200b\n" }, "The question is empty."},
		{"the longest question, in runes", func(r *RunRequest) { r.Message = strings.Repeat("é", MaxQuestion) }, ""},
		{"a longer question", func(r *RunRequest) { r.Message = strings.Repeat("é", MaxQuestion+1) },
			"exceeds the limit of 32,000 characters"},
		{"the longest given context", func(r *RunRequest) { r.ContextText = strings.Repeat("é", MaxContext) }, ""},
		{"a longer given context", func(r *RunRequest) { r.ContextText = strings.Repeat("é", MaxContext+1) },
			"Context exceeds the limit"},
		{"a longer added context", func(r *RunRequest) { r.AddedContext = strings.Repeat("é", MaxContext+1) },
			"The context exceeds"},
		{"as many documents as may be", func(r *RunRequest) { r.DocumentIDs = names(MaxDocumentIDs) }, ""},
		{"more documents", func(r *RunRequest) { r.DocumentIDs = names(MaxDocumentIDs + 1) },
			"at most 1,000 entries"},
		{"a document without a name", func(r *RunRequest) { r.DocumentIDs = []string{"d", ""} },
			"document_ids contains an empty entry"},
		{"a key at the limit", func(r *RunRequest) { r.IdempotencyKey = strings.Repeat("k", MaxIdempotencyKey) }, ""},
		{"a longer key", func(r *RunRequest) { r.IdempotencyKey = strings.Repeat("k", MaxIdempotencyKey+1) },
			"at most 255 bytes"},
		{"a key that is not UTF-8", func(r *RunRequest) { r.IdempotencyKey = "\xff" }, "valid UTF-8"},
		{"a session id with a slash", func(r *RunRequest) { r.SessionID = "a/b" }, "A session ID must have"},
		{"a hidden namespace", func(r *RunRequest) { r.Namespace = ".web.r" }, "A namespace can have"},
		{"a namespace with a space", func(r *RunRequest) { r.Namespace = "a b" }, "A namespace can have"},
		{"temperature 2", func(r *RunRequest) { r.Config.Temperature = new(2.0) }, ""},
		{"a higher temperature", func(r *RunRequest) { r.Config.Temperature = new(2.1) }, "config.temperature"},
		{"a temperature that is no number", func(r *RunRequest) { r.Config.Temperature = new(math.NaN()) },
			"config.temperature"},
		{"no steps", func(r *RunRequest) { r.Config.MaxSteps = new(0) }, "config.max_steps must be between 1 and 50"},
		{"most calls", func(r *RunRequest) { r.Config.MaxRetrievalCalls = new(MostTurnsOrCalls) }, ""},
		{"too many passages", func(r *RunRequest) { r.Config.RetrievalTopK = new(MostTurnsOrCalls + 1) },
			"config.retrieval_top_k"},
		{"as many tools as may be", func(r *RunRequest) { r.Config.EnabledTools = names(MaxEnabledTools) }, ""},
		{"more tools", func(r *RunRequest) { r.Config.EnabledTools = names(MaxEnabledTools + 1) },
			"at most 50 entries"},
		{"a tool without a name", func(r *RunRequest) { r.Config.EnabledTools = []string{""} },
			"config.enabled_tools contains an empty entry"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := RunRequest{Message: "How deep?"}
			tt.set(&r)
			err := r.Validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("Validate = %v, want no error", err)
				}
				return
			}
			if err == nil || CodeOf(err) != CodeInvalid || !strings.Contains(MessageOf(err).String(), tt.want) {
				t.Errorf("Validate = %v, want %s with %q", err, CodeInvalid, tt.want)
			}
		})
	}
}

func TestWebLink(t *testing.T) {
	for address, want := range map[string]string{
		"https://example.org/book#c1": "https://example.org/book#c1",
		"http://example.org":          "http://example.org",
		"javascript:alert(1)":         "",
		"data:text/html,x":            "",
		"//example.org/x":             "",
		"/d/1":                        "",
		"https://":                    "",
		"https://a:b@example.org/":    "",
		"":                            "",
	} {
		if got := WebLink(address); got != want {
			t.Errorf("WebLink(%q) = %q, want %q", address, got, want)
		}
	}
}
