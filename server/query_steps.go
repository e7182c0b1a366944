package server

import (
	"encoding/json"

	"footnote/chat"
)

// queryStep is a step as POST /agent/query has it: the step itself, and the same told as an action and what was observed.
type queryStep struct {
	chat.Step
	StepNumber  int              `json:"step_number"` // from 1
	Action      queryAction      `json:"action"`
	Observation queryObservation `json:"observation"`
}

type queryAction struct {
	Tool      string          `json:"tool"` // the phase, for a step that calls no tool
	ToolInput json.RawMessage `json:"tool_input"`
	Thought   string          `json:"thought"`
}

type queryObservation struct {
	Result    any     `json:"result"` // null while there is none
	Success   bool    `json:"success"`
	Error     *string `json:"error"` // null without one
	LatencyMS int64   `json:"latency_ms"`
}

func querySteps(steps []chat.Step) []queryStep {
	out := make([]queryStep, 0, len(steps))
	for i, s := range steps {
		q := queryStep{
			Step: s, StepNumber: i + 1,
			Action:      queryAction{Tool: s.Step, ToolInput: s.ToolInput, Thought: s.Thought},
			Observation: queryObservation{Success: s.Status == chat.StatusComplete, LatencyMS: s.DurationMS},
		}
		if len(q.Action.ToolInput) == 0 {
			q.Action.ToolInput = json.RawMessage(`{}`)
		}
		if len(s.ToolOutput) > 0 {
			q.Observation.Result = s.ToolOutput
		}
		if s.Error != nil {
			q.Observation.Error = &s.Error.Message
		}
		out = append(out, q)
	}
	return out
}
