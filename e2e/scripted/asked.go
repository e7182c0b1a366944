package scripted

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// spelledCalls parses the tool calls that a question contains for a turn: #call name {"argument": "value"}, any
// number of times, and after each #then those of the next turn.
//
// A test or a user of the page can call any tool with any arguments this way. turn counts from 0. Arguments that
// are not a JSON object are skipped. It returns nil for a turn without calls.
func spelledCalls(question string, turn int) []llm.Call {
	turns := strings.Split(question, "#then")
	if turn >= len(turns) {
		return nil
	}
	_, question, _ = strings.Cut(turns[turn], "#call ")
	var out []llm.Call
	for part := range strings.SplitSeq(question, "#call ") {
		name, rest, _ := strings.Cut(part, " ")
		var arguments json.RawMessage
		if strings.HasPrefix(rest, "{") && json.NewDecoder(strings.NewReader(rest)).Decode(&arguments) == nil {
			out = append(out, llm.Call{Name: name, Arguments: arguments})
		}
	}
	return out
}

// repeatResults joins the tool results since the last question with spaces, the oldest first. Results with neither
// text nor error are skipped.
func repeatResults(history []llm.Message) string {
	var results []string
	for _, msg := range slices.Backward(history) {
		if msg.Role == llm.RoleUser {
			break
		}
		for at := range msg.Text { // the JSON may follow a note about the tool's input
			var out struct{ Text, Error string }
			if msg.Role == llm.RoleTool && msg.Text[at] == '{' &&
				json.NewDecoder(strings.NewReader(msg.Text[at:])).Decode(&out) == nil && out.Text+out.Error != "" {
				results = append(results, out.Text+out.Error)
				break
			}
		}
	}
	slices.Reverse(results)
	return strings.Join(results, " ")
}
