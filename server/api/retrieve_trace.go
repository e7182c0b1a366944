package api

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
)

// agentTrace is the trace of an agent's search.
type agentTrace struct {
	Query       string       `json:"query"`          // The query.
	Iterations  int          `json:"iterations"`     // Turns with calls; parallel calls are one.
	ToolCalls   []tracedCall `json:"tool_calls"`     // The calls, in order.
	ToolResults []tracedEnd  `json:"tool_results"`   // The result of each call, in the same order.
	Plan        tracedPlan   `json:"plan"`           // The reasoning before the first call.
	Tokens      chat.Tokens  `json:"tokens"`         // the models' tokens
	Cost        *float64     `json:"cost,omitempty"` // of Tokens, if the models have a price
	Steps       []chat.Step  `json:"steps"`
}

// chunkTrace is the part of an agentTrace for one passage.
type chunkTrace struct {
	Iterations int          `json:"iterations"` // Turns with calls of the whole search.
	ToolCalls  []tracedCall `json:"tool_calls"` // The calls that found the passage.
}

// tracedCall is the start of a call.
type tracedCall struct {
	Tool       string          `json:"tool"`
	Parameters json.RawMessage `json:"parameters"` // The call's arguments, an object.
	Iteration  int             `json:"iteration"`  // The turn it belongs to, from 1: parallel calls are one.
}

// tracedEnd is the result of a call.
type tracedEnd struct {
	Tool          string  `json:"tool"`
	Success       bool    `json:"success"`        // Whether the call succeeded.
	ExecutionTime float64 `json:"execution_time"` // Its duration, in seconds.
	NumResults    int     `json:"num_results"`    // The number of passages or documents.
}

// tracedPlan is a model's reasoning before a call, and its cost.
type tracedPlan struct {
	// The classification of the question, its parts with reasons, and the reasons for the chosen tools, line by
	// line.
	Reasoning string   `json:"reasoning"`
	Cost      *float64 `json:"cost,omitempty"` // The cost of the model's plan, when the model has a price.
}

// newAgentTrace converts steps to calls, their results, and the reasoning before them.
//
// Calls with one parent were made in parallel and are one iteration; each call without a parent is its own.
func newAgentTrace(query string, steps []chat.Step, spent chat.Spent) agentTrace {
	t := agentTrace{
		Query: query, ToolCalls: []tracedCall{}, ToolResults: []tracedEnd{},
		Tokens: spent.Tokens, Cost: spent.Cost, Steps: steps,
	}
	var reasons []string
	group := ""
	for _, s := range steps {
		switch {
		case !finds(s):
		case s.ToolName != "":
			if s.ParentID == "" || s.ParentID != group {
				t.Iterations++
			}
			group = s.ParentID
			t.addStep(s)
		case s.ActionType == chat.ActionPlanning:
			reasons = append(reasons, s.Message)
			if s.Step == "choose" && s.Summary != "" {
				reasons = append(reasons, s.Summary)
			}
			if s.Result != nil {
				for _, part := range s.Result.Parts {
					reasons = append(reasons, strings.TrimSuffix(part.Query+": "+part.Reasoning, ": "))
				}
			}
			if s.Cost != nil {
				sum := *s.Cost
				if t.Plan.Cost != nil {
					sum += *t.Plan.Cost
				}
				t.Plan.Cost = &sum
			}
		}
	}
	t.Plan.Reasoning = strings.Join(reasons, "\n")
	return t
}

// finds reports whether a step may return results. Checks of results appear only among the steps.
func finds(s chat.Step) bool { return s.Capability != chat.CapabilityCheck }

// addStep adds a call and its result. A read without a list of passages counts as one result.
func (t *agentTrace) addStep(s chat.Step) {
	input := s.ToolInput
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	t.ToolCalls = append(t.ToolCalls, tracedCall{s.ToolName, input, t.Iterations})
	end := tracedEnd{
		Tool: s.ToolName, Success: s.Status == chat.StatusComplete, ExecutionTime: float64(s.DurationMS) / 1000,
	}
	if end.Success {
		end.NumResults = newRetrieval(s).ResultsCount
		if s.ActionType == chat.ActionReading {
			end.NumResults = cmp.Or(end.NumResults, 1)
		}
	}
	t.ToolResults = append(t.ToolResults, end)
}

// of returns the part of the trace for one passage.
func (t *agentTrace) of(chunkID string) chunkTrace {
	part := chunkTrace{Iterations: t.Iterations, ToolCalls: []tracedCall{}}
	call := 0
	for _, s := range t.Steps {
		if s.ToolName == "" || !finds(s) {
			continue
		}
		if s.Result != nil &&
			slices.ContainsFunc(s.Result.Hits, func(hit chat.Hit) bool { return hit.ChunkID == chunkID }) {
			part.ToolCalls = append(part.ToolCalls, t.ToolCalls[call])
		}
		call++
	}
	return part
}
