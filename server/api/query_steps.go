package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// queryStep is a step as POST /agent/query has it: the step itself, and the same told as an action and what was
// observed.
type queryStep struct {
	chat.Step
	StepNumber  int              `json:"step_number"` // Its place, from 1.
	Action      queryAction      `json:"action"`      // What was done, and why.
	Observation queryObservation `json:"observation"` // What came of it.
}

// queryAction is what a step did.
type queryAction struct {
	Tool      string          `json:"tool" api:"shared"` // The tool, or the phase of a step that calls none.
	ToolInput json.RawMessage `json:"tool_input"`        // The tool's input.
	Thought   string          `json:"thought"`           // Why the model does it.
}

// queryObservation is what came of it.
type queryObservation struct {
	Result    any     `json:"result"`  // What it returned; null while there is nothing.
	Success   *bool   `json:"success"` // Whether it ended without an error; null while it runs.
	Error     *string `json:"error"`   // null without one
	LatencyMS int64   `json:"latency_ms"`
}

// querySteps are a run's steps in the form of POST /query.
func querySteps(steps []chat.Step) []queryStep {
	out := make([]queryStep, 0, len(steps))
	for i, s := range steps {
		out = append(out, newQueryStep(s, i+1))
	}
	return out
}

// newQueryStep is one step; number counts from 1.
//
// An input that is absent becomes an empty object, and an output that is absent null, so that clients find both fields.
func newQueryStep(s chat.Step, number int) queryStep {
	q := queryStep{
		Step: s, StepNumber: number,
		Action:      queryAction{Tool: s.Step, ToolInput: s.ToolInput, Thought: s.Thought},
		Observation: queryObservation{LatencyMS: s.DurationMS},
	}
	if s.Status != chat.StatusPending && s.Status != chat.StatusRunning {
		success := s.Status == chat.StatusComplete
		q.Observation.Success = &success
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
	return q
}

// responseEvent is the name of the last event in the stream of POST /agent/query. It is not in the run's log and has
// no number.
const responseEvent = "response"

// queryFrame frames a run's log for the stream of POST /agent/query: each step is told as an action and an
// observation as well, and behind run_done comes the whole response.
//
// It keeps state between calls, so each stream needs one of its own, and a stream must begin with the first event.
func (a *Handlers) queryFrame(ctx context.Context, scope chat.Scope, runID string) runlog.Framing {
	steps := runlog.Trace{} // so that each step keeps its number, input and thought
	return func(dst []byte, entry *chat.Entry) ([]byte, error) {
		switch entry.Type {
		case chat.KindReasoningStep:
			if err := steps.Add(entry.Event); err != nil {
				return dst, err
			}
			return stepFrame(&steps, dst, entry)
		case chat.KindStartOver:
			steps = runlog.Trace{}
		case chat.KindRunDone:
			t, err := a.Logs.Trace(ctx, scope, runID)
			if err != nil {
				return dst, err
			}
			body, err := json.Marshal(newAgentResponse(t))
			if err != nil {
				return dst, fmt.Errorf("encode the response: %w", err)
			}
			if dst, err = runlog.ProgramFrame(dst, entry); err != nil {
				return dst, err
			}
			return httpio.AppendFrame(dst, 0, responseEvent, body), nil
		default: // framed as it is
		}
		return runlog.ProgramFrame(dst, entry)
	}
}

// stepFrame is a step's event with the fields that POST /agent/query adds to steps.
func stepFrame(t *runlog.Trace, dst []byte, entry *chat.Entry) ([]byte, error) {
	p, err := entry.Event.Payload()
	if err != nil {
		return dst, err
	}
	step, ok := p.(chat.Step)
	if !ok {
		return dst, fmt.Errorf("event %d holds no step", entry.Seq)
	}
	at, known := t.Log.Position(step.CallID)
	if !known {
		return dst, fmt.Errorf("event %d was not added to the trace", entry.Seq)
	}
	q := newQueryStep(t.Steps[at], at+1)
	more, err := json.Marshal(struct {
		StepNumber  int              `json:"step_number"`
		Action      queryAction      `json:"action"`
		Observation queryObservation `json:"observation"`
	}{q.StepNumber, q.Action, q.Observation})
	if err != nil {
		return dst, fmt.Errorf("encode a step: %w", err)
	}
	body := append(bytes.TrimSuffix(bytes.Clone(entry.JSON), []byte("}")), ',')
	return httpio.AppendFrame(dst, entry.Seq, string(entry.Type), append(body, more[1:]...)), nil
}
