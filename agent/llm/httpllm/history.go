package httpllm

import "github.com/footnote/footnote/agent/llm"

// NoResult is the placeholder for a missing result of a call.
const NoResult = `{"error":"there is no result: the call was interrupted"}`

// Repair returns a history that providers accept: each call is followed by one result, and each result belongs to a
// call. Missing results get NoResult; results without a call and empty assistant messages are removed. A history is
// invalid after a run was stopped during its tools, or was read back from a store. A valid history is returned
// without a copy; messages are never modified.
func Repair(history []llm.Message) []llm.Message {
	if isWhole(history) {
		return history
	}
	out := make([]llm.Message, 0, len(history))
	for i, msg := range history {
		switch {
		case msg.Role == llm.RoleTool:
		case msg.Role == llm.RoleAssistant && msg.Text == "" && len(msg.Calls) == 0:
		default:
			out = append(out, msg)
			for _, call := range msg.Calls {
				out = append(out, resultOf(call.ID, history[i+1:]))
			}
		}
	}
	return out
}

// isWhole reports whether a history is valid. Results must be in the order of their calls.
func isWhole(history []llm.Message) bool {
	var open []llm.Call
	for _, msg := range history {
		if msg.Role == llm.RoleTool {
			if len(open) == 0 || open[0].ID != msg.CallID {
				return false
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 || msg.Role == llm.RoleAssistant && msg.Text == "" && len(msg.Calls) == 0 {
			return false
		}
		open = msg.Calls
	}
	return len(open) == 0
}

// resultOf returns a call's result: the first one, before the id is reused by another call.
func resultOf(id string, later []llm.Message) llm.Message {
	for _, msg := range later {
		if msg.Role == llm.RoleTool && msg.CallID == id {
			return msg
		}
		for _, call := range msg.Calls {
			if call.ID == id {
				return llm.Message{Role: llm.RoleTool, CallID: id, Text: NoResult}
			}
		}
	}
	return llm.Message{Role: llm.RoleTool, CallID: id, Text: NoResult}
}
