package scripted

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// spelledCalls are the tool calls that a question spells out for a turn: #call name {"argument": "value"}, any number
// of times, and after each #then those of the next turn.
//
// They let a test or a person in front of the page have any tool called with any arguments. turn is from 0. Arguments
// that are no JSON object are left out. It returns nil when there is nothing for that turn.
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

// repeatResults repeats what the tools returned since the last question. The texts are joined by spaces, the oldest
// first. What a tool said that has neither text nor error is left out.
func repeatResults(history []llm.Message) string {
	var results []string
	for _, msg := range slices.Backward(history) {
		if msg.Role == llm.RoleUser {
			break
		}
		for at := range msg.Text { // what the tool gave may stand behind a word about its input
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
