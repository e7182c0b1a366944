// Package textcalls gives tools to models that write their calls as text: because they have no tool calls of their own,
// or because their server does not read what they write. Model wraps such a model: it tells thoughts from text
// (thinkingFilter), holds back what may be a call (callBuffer), reads calls in many dialects (Calls), and learns
// whether a model has tool calls of its own (verdict). Nothing that was meant as a call is ever shown as an answer.
//
// To add a form of calls in text, add its row to agent/llm/textcalls/dialects.go, a reply in it as
// agent/llm/textcalls/testdata/dialects/*.txt, and the calls of that reply as
// agent/llm/textcalls/testdata/dialects/*.json.
package textcalls

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// Bounds on what a text may cost. They are far above what replies hold: a turn has a few calls, and an answer of many
// pages a few dozen brackets. Reading is square in the brackets that open nothing, which is why misses are counted.
const (
	maxText   = 1 << 20 // bytes
	maxCalls  = 20      // the limit per reply; further calls are dropped
	maxMisses = 200     // brackets behind which no call was found
)

// nameBefore is functionary's form, to which all others with the name in front are rewritten.
var nameBefore = regexp.MustCompile(`>>>\s*([\w.-]+)\s*\n`)

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

// findCalls finds the calls in a text: each balanced piece behind a bracket is tried. rest is the text between the
// pieces that were calls, without marks if there were any. A piece that is none is stepped over whole if it is an
// object, since what is inside belongs to it; a list may stand around calls, so only its bracket is.
func (k known) findCalls(text string) (calls []llm.Call, rest string) {
	text = k.inObjects(text)
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
	return calls, withoutMarkup(out.String())
}

// readPiece makes calls of one balanced piece of JSON, or of nearly JSON. before is what stands in front of it, where
// some forms have the name.
func (k known) readPiece(piece, before string) []llm.Call {
	if strings.HasPrefix(piece, "{") != strings.HasSuffix(piece, "}") {
		return nil // it closes with another bracket: closingBracket counts both kinds as one
	}
	value, ok := mendJSON(piece)
	// Models that saw the braces of a template escaped, as in Python's format strings, write both.
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
	if name := k.toolNamed(lastNameBefore(before)); name != "" {
		return []llm.Call{{Name: name, Arguments: encodeObject(object)}}
	}
	return nil
}

// nameTail is how many bytes in front of an object the name is looked for in: a name has 64 at most, and templates put
// no more than the fence of a code block between both.
const nameTail = 200

// lastNameBefore is the name that stands in front of arguments, empty for none.
func lastNameBefore(before string) string {
	if m := nameBefore.FindAllStringSubmatch(before[max(0, len(before)-nameTail):], -1); len(m) > 0 {
		return m[len(m)-1][1]
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

// nameKeys and argumentKeys are the names under which the tool and its arguments stand: what prompt.md asks for first,
// then those of OpenAI's API and most templates, of Llama, Command R, and of LangChain's prompts.
var (
	nameKeys     = []string{"tool", "name", "function", "tool_name", "action"}
	argumentKeys = []string{"input", "arguments", "parameters", "args", "action_input", "tool_input"}
)

// callOf reads {"tool": …, "input": …} and its relatives: calls inside another object, {"name": {…}}, and arguments
// beside the name. The last is read only if each is one that the tool takes, since many objects have a "name". ok is
// false if the object is no call; a call whose arguments can't be read is one, and Malformed.
func (k known) callOf(object map[string]any) ([]llm.Call, bool) {
	if items, ok := object["tool_calls"].([]any); ok {
		calls, ok := k.callsOf(items)
		return calls, ok && len(calls) > 0
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
	for _, key := range nameKeys {
		if said, ok := object[key].(string); ok {
			name, nameKey = k.toolNamed(said), key
			break
		}
	}
	if name == "" {
		return nil, false
	}
	for _, key := range argumentKeys {
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
		return nil, false // of a tool that there is not, no arguments are known
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

// readArguments reads what stands for the arguments of a call: an object, one that was encoded once or twice more (as
// OpenAI's API does, and models that imitate it do again), nothing, or the one value that the tool needs.
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
