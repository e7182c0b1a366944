package api

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

func TestTraceContainsTurnsAndCalls(t *testing.T) {
	cent := 0.01
	step := func(name, parent, input string, found int, status chat.Status) chat.Step {
		action := chat.ActionSearching
		if name == "read_document" {
			action = chat.ActionReading
		}
		return chat.Step{
			Step: name, ToolName: name, ParentID: parent, ActionType: action, ToolInput: json.RawMessage(input),
			Result: &chat.StepResult{Found: found}, Status: status, DurationMS: 250,
		}
	}
	steps := []chat.Step{
		{Step: "analyse", ActionType: chat.ActionPlanning, Message: "Factual question about: roof"},
		{Step: "choose", ActionType: chat.ActionPlanning, Message: "Rules chose", Summary: "its words are plain",
			Cost: &cent},
		{Step: "plan", ActionType: chat.ActionPlanning, Message: "Planned 2 parts", Cost: &cent},
		{CallID: "c3", Step: "parallel", ActionType: chat.ActionSearching},
		step("semantic_search", "c3", `{"query":"roof"}`, 3, chat.StatusComplete),
		step("metadata_search", "c3", "", 0, chat.StatusError),
		{Step: "refine", ActionType: chat.ActionAnalysing, Message: "Trying other words"},
		step("read_document", "", `{"doc_id":"d"}`, 0, chat.StatusComplete),
		step("hybrid_search", "", `{"query":"slates"}`, 0, chat.StatusComplete),
	}
	sum := 0.02
	want := agentTrace{
		Query: "roof?", Iterations: 3,
		ToolCalls: []tracedCall{
			{"semantic_search", json.RawMessage(`{"query":"roof"}`), 1}, {"metadata_search", json.RawMessage(`{}`), 1},
			{"read_document", json.RawMessage(`{"doc_id":"d"}`), 2},
			{"hybrid_search", json.RawMessage(`{"query":"slates"}`), 3},
		},
		ToolResults: []tracedEnd{
			{"semantic_search", true, 0.25, 3}, {"metadata_search", false, 0.25, 0}, {"read_document", true, 0.25, 1},
			{"hybrid_search", true, 0.25, 0},
		},
		Plan: tracedPlan{
			Reasoning: "Factual question about: roof\nRules chose\nits words are plain\nPlanned 2 parts", Cost: &sum,
		},
		Tokens: chat.Tokens{In: 30, Out: 4}, Cost: &sum, Steps: steps,
	}
	got := newAgentTrace("roof?", steps, chat.Spent{Tokens: chat.Tokens{In: 30, Out: 4}, Cost: &sum})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	steps[4].Result.Hits = []chat.Hit{{ChunkID: "c1"}, {ChunkID: "c2"}}
	steps[8].Result.Hits = []chat.Hit{{ChunkID: "c2"}}
	for chunk, calls := range map[string][]tracedCall{
		"c1": {want.ToolCalls[0]}, "c2": {want.ToolCalls[0], want.ToolCalls[3]}, "c3": {},
	} {
		if diff := cmp.Diff(chunkTrace{Iterations: 3, ToolCalls: calls}, got.of(chunk)); diff != "" {
			t.Errorf("%s: %s", chunk, diff)
		}
	}
}

func TestAverageUsesOneScoreKind(t *testing.T) {
	quarter, half, whole := 0.25, 0.5, 1.0
	for _, tt := range []struct {
		list []chat.Hit
		want float64
	}{
		{nil, 0},
		{[]chat.Hit{{}, {}}, 0},
		{[]chat.Hit{{Score: &half}, {Score: &whole}, {}}, 0.75},
		{[]chat.Hit{{Score: &whole, Similarity: &quarter}, {Score: &whole}}, 0.25},
		{[]chat.Hit{{Score: &half}, {Score: &whole, Sub: true}}, 0.5},
	} {
		if got := averageScore(tt.list); got != tt.want {
			t.Errorf("average(%+v) = %v, want %v", tt.list, got, tt.want)
		}
	}
}

func TestRelevanceContainsTitleOnce(t *testing.T) {
	got := relevanceOf(chat.Citation{Title: "Survey", Section: "Survey › Roof", Check: chat.CheckVerified})
	if want := "Quoted word for word from Survey › Roof"; got != want {
		t.Errorf("relevance = %q, want %q", got, want)
	}
}

func TestStatusOfSeveralReasonsIsHighest(t *testing.T) {
	for _, tt := range []struct {
		codes []chat.Code
		want  int
	}{
		{[]chat.Code{chat.CodeTooLarge, chat.CodeDiskFull, chat.CodeInvalid}, 507},
		{[]chat.Code{chat.CodeInvalid, chat.CodeInternal}, 500},
		{[]chat.Code{chat.CodeUnavailable}, 503},
	} {
		var files []rejectedFile
		for _, code := range tt.codes {
			files = append(files, rejectedFile{Code: code})
		}
		if got := refusedStatus(files); got != tt.want {
			t.Errorf("refusedStatus(%v) = %d, want %d", tt.codes, got, tt.want)
		}
	}
}
