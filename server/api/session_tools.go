package api

import (
	"encoding/json"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// toolCall is what the assistant asked a tool for.
type toolCall struct {
	ID        string          `json:"id"`        // The step's call_id.
	Name      string          `json:"name"`      // The tool.
	Arguments json.RawMessage `json:"arguments"` // Its arguments, an object.
}

// withTools puts a run's tool calls between its question and its answer: what the assistant asked for, then what the
// tool gave.
//
// Calls that are under way or wait for approval are left out: they have no result to follow them.
func withTools(messages []message, traces map[string]*runlog.Trace) []message {
	out := make([]message, 0, len(messages))
	for _, m := range messages {
		out = append(out, m)
		if m.Role != RoleUser || traces[m.RunID] == nil {
			continue
		}
		for _, step := range traces[m.RunID].Steps {
			if step.ToolName != "" && step.Status != chat.StatusRunning && step.Status != chat.StatusPending {
				out = append(out, toolMessages(m.RunID, step)...)
			}
		}
	}
	return out
}

// toolMessages are a tool call and its result as two messages of a conversation.
func toolMessages(runID string, step chat.Step) []message {
	at := time.UnixMicro(int64(step.Timestamp * 1e6)).UTC()
	call := toolCall{ID: step.CallID, Name: step.ToolName, Arguments: step.ToolInput}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage(`{}`)
	}
	return []message{
		{Role: RoleAssistant, Content: step.Thought, Timestamp: at, RunID: runID, ToolCalls: []toolCall{call}},
		{Role: RoleTool, Content: string(
			step.ToolOutput,
		), Timestamp: at, RunID: runID, Name: step.ToolName, CallID: step.CallID},
	}
}
