package chat

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testdata/old_steps.json has steps of every tool as a version without results stored them; old_results.json what they
// came to.
func TestOldStepsGetAResult(t *testing.T) {
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

func TestOutputsThatAreNoneOfOursGetAResultToo(t *testing.T) {
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

func TestOldStepsGetTheLabelOfTheirCapability(t *testing.T) {
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

func TestAResultIsBounded(t *testing.T) {
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
