// Package textcalls gives tools to models that write their calls as text: because they have no tool calls of their own,
// or because their server does not read what they write. Model wraps such a model: it tells thoughts from text
// (thinkingFilter), holds back what may be a call (callBuffer), reads calls in many dialects (Calls), and learns
// whether a model has tool calls of its own (verdict). Nothing that was meant as a call is ever shown as an answer.
package textcalls

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/kaptinlin/jsonrepair"

	"footnote/llm"
)

const (
	maxText  = 1 << 20 // bytes of a text that is looked at
	maxCalls = 20      // of one text

	maxMisses = 200 // brackets of a text that are looked behind in vain
)

var (
	bracketCall = regexp.MustCompile(`\[TOOL_CALLS\]\s*([\w.-]+)?(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?`)
	harmonyTo   = regexp.MustCompile(`(?:to=|functions\.)(?:functions\.)?([\w.-]+)`)
	functionary = regexp.MustCompile(`>>>\s*([\w.-]+)\s*\n`)
)

// Calls finds the tool calls in a text, in any of the forms in which models write them, and returns them with the
// text around them. A call must name one of the tools. What is cut off is no call.
func Calls(text string, tools []llm.ToolSpec) (calls []llm.Call, rest string) {
	if len(text) > maxText {
		return nil, text
	}
	k := knownOf(tools)
	calls, rest = k.findCalls(text)
	if len(calls) == 0 && isMarked(text) {
		k.any = true // it was meant as a call: whoever makes it says which tools there are
		return k.findCalls(text)
	}
	return calls, rest
}

// findCalls finds the calls in a text.
func (k known) findCalls(text string) (calls []llm.Call, rest string) {
	text = inJSON(text, k)
	var out strings.Builder
	from := 0
	for misses := 0; len(calls) < maxCalls && misses < maxMisses; {
		start := strings.IndexAny(text[from:], "{[")
		if start < 0 {
			break
		}
		start += from
		size := closingBracket(text[start:])
		var found []llm.Call
		if size > 0 {
			found = k.readPiece(text[start:start+size], text[:start])
		} else if n := strings.Index(text[start:], "</tool_call>"); n > 0 &&
			text[start] == '{' { // a bracket is missing, but not the end
			if found = k.readPiece(strings.TrimSpace(text[start:start+n])+"}", text[:start]); len(found) > 0 {
				size = n
			}
		}
		if len(found) == 0 {
			misses++
			if size < 0 || text[start] == '[' {
				size = 1
			}
			out.WriteString(text[from : start+size])
		} else {
			out.WriteString(text[from:start])
			calls = append(calls, found...)
		}
		from = start + size
	}
	out.WriteString(text[from:])
	if len(calls) == 0 {
		return nil, out.String()
	}
	return calls[:min(len(calls), maxCalls)], withoutMarkup(out.String())
}

// readPiece makes calls of one balanced piece of JSON, or of nearly JSON. before is what stands in front of it, where
// some forms have the name.
func (k known) readPiece(piece, before string) []llm.Call {
	if strings.HasPrefix(piece, "{") != strings.HasSuffix(piece, "}") {
		return nil // it closes with another bracket
	}
	value, ok := mendJSON(piece)
	if inner, doubled := strings.CutPrefix(piece, "{{"); doubled && strings.HasSuffix(inner, "}}") {
		value, ok = mendJSON("{" + strings.TrimSuffix(inner, "}"))
	}
	if !ok {
		return nil
	}
	if list, ok := value.([]any); ok {
		calls, _ := k.callsOf(list)
		return calls
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	if calls, ok := k.callOf(object); ok {
		return calls
	}
	if name := k.toolNamed(nameBefore(before)); name != "" {
		return []llm.Call{{Name: name, Arguments: encodeObject(object)}}
	}
	return nil
}

// nameBefore is the tool that is named in front of its arguments, in the forms of Mistral, functionary and harmony.
func nameBefore(before string) string {
	tail := before[max(0, len(before)-200):]
	if m := bracketCall.FindAllStringSubmatch(tail, -1); len(m) > 0 && m[len(m)-1][1] != "" {
		return m[len(m)-1][1]
	}
	if m := functionary.FindAllStringSubmatch(tail, -1); len(m) > 0 {
		return m[len(m)-1][1]
	}
	if strings.Contains(tail, "<|channel|>") || strings.Contains(tail, "<|message|>") {
		if m := harmonyTo.FindAllStringSubmatch(tail, -1); len(m) > 0 {
			return m[len(m)-1][1]
		}
	}
	return ""
}

// callsOf reads a list of calls; one entry that is none makes it no such list.
func (k known) callsOf(items []any) (calls []llm.Call, ok bool) {
	for _, item := range items {
		object, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		more, ok := k.callOf(object)
		if !ok {
			return nil, false
		}
		calls = append(calls, more...)
	}
	return calls, true
}

// callOf reads {"tool": …, "input": …} and its relatives.
func (k known) callOf(object map[string]any) ([]llm.Call, bool) {
	for _, list := range []string{"tool_calls", "calls"} {
		if items, ok := object[list].([]any); ok {
			calls, ok := k.callsOf(items)
			return calls, ok && len(calls) > 0
		}
	}
	for _, key := range []string{"function", "function_call", "tool_call"} {
		if inner, ok := object[key].(map[string]any); ok {
			return k.callOf(inner)
		}
	}
	for name, given := range object {
		if arguments, ok := given.(map[string]any); ok && len(object) == 1 && slices.Contains(k.names, name) {
			return []llm.Call{{Name: name, Arguments: encodeObject(arguments)}}, true
		}
	}
	name, nameKey := "", ""
	for _, key := range []string{"tool", "name", "function", "tool_name", "action", "recipient_name"} {
		if said, ok := object[key].(string); ok {
			name, nameKey = k.toolNamed(said), key
			break
		}
	}
	if name == "" {
		return nil, false
	}
	for _, key := range []string{"input", "arguments", "parameters", "args", "action_input", "tool_input"} {
		given, ok := object[key]
		if !ok {
			continue
		}
		if arguments, ok := k.readArguments(name, given); ok {
			return []llm.Call{{Name: name, Arguments: encodeObject(arguments)}}, true
		}
		return []llm.Call{
			{Name: name, Arguments: json.RawMessage("{}"), Malformed: "the arguments must be a JSON object"},
		}, true
	}
	if k.any {
		return nil, false
	}
	flat := map[string]any{} // the arguments beside the name
	for key, value := range object {
		if key == nameKey {
			continue
		}
		if !slices.Contains(k.fields[name], key) {
			return nil, false
		}
		flat[key] = value
	}
	return []llm.Call{{Name: name, Arguments: encodeObject(flat)}}, true
}

// readArguments reads what stands for the arguments of a call: an object, one that was encoded once or twice more,
// nothing, or the one value that the tool needs.
func (k known) readArguments(name string, given any) (map[string]any, bool) {
	for range 3 {
		text, ok := given.(string)
		if !ok {
			break
		}
		value, fine := mendJSON(text)
		if !fine {
			value, fine = mendJSON(strings.ReplaceAll(text, `\"`, `"`))
		}
		if !fine {
			if strings.IndexAny(text, "{[") == 0 {
				return nil, false
			}
			return k.singleArgument(name, text)
		}
		given = value
	}
	switch given := given.(type) {
	case nil:
		return map[string]any{}, true
	case map[string]any:
		return given, true
	case string:
		return k.singleArgument(name, given)
	}
	return nil, false
}

// encodeObject writes arguments as JSON.
func encodeObject(object map[string]any) json.RawMessage {
	raw, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

var comment = regexp.MustCompile(`(?m)^\s*//[^\n]*$|//[^\n"]*$|/\*[^*]*\*/`)

// withoutComments takes comments out of what is nearly JSON.
func withoutComments(text string) string {
	return strings.TrimLeft(comment.ReplaceAllString(text, ""), " \t\r\n")
}

// mendJSON decodes JSON, and what is nearly JSON: single quotes, trailing commas, comments, names without quotes,
// Python's constants.
func mendJSON(piece string) (value any, ok bool) {
	if json.Unmarshal([]byte(piece), &value) == nil {
		return value, true
	}
	if closingBracket(piece) != len(strings.TrimRight(piece, " \t\r\n")) {
		return nil, false // cut off: what is missing is not made up
	}
	fixed, err := jsonrepair.Repair(piece)
	if err != nil || json.Unmarshal([]byte(fixed), &value) != nil {
		return nil, false
	}
	return value, true
}

// closingBracket returns where the bracket closes with which a text begins, -1 if it does not. Brackets in strings do
// not count.
func closingBracket(text string) int {
	depth := 0
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				if quote == '"' || endsString(text[i+1:]) {
					quote = 0
				}
			}
		case c == '"', c == '\'' && i > 0 && beginsString(text[:i]):
			quote = c
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		if i == 0 && depth == 0 {
			return -1
		}
	}
	return -1
}

// endsString and beginsString tell a quote from an apostrophe by its neighbours.
func endsString(after string) bool {
	after = strings.TrimLeft(after, " \t\r\n")
	return after == "" || strings.IndexByte(",:}]", after[0]) >= 0
}

// beginsString reports whether a quote behind a text opens a string.
func beginsString(before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	return before == "" || strings.IndexByte(",:{[", before[len(before)-1]) >= 0
}
