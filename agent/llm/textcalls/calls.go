// Package textcalls adds tools to models that write their calls as text: because they have no native tool calls, or
// because their server does not parse them. Model wraps such a model. It separates thoughts from text
// (thinkingFilter), buffers possible calls (callBuffer) and parses calls in many dialects (Calls). It learns whether
// a model has native tool calls (verdict). Text that was meant as a call is never shown as an answer.
//
// To add a form of calls in text, add its row to agent/llm/textcalls/dialects.go, a reply in it as
// agent/llm/textcalls/testdata/dialects/*.txt, and the calls of that reply as
// agent/llm/textcalls/testdata/dialects/*.json.
package textcalls

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/lazy"
)

// Limits on the cost of parsing, far above ordinary replies: a turn has a few calls, and an answer of many pages a
// few dozen brackets. Parsing is quadratic in brackets that open no call, so misses are counted.
const (
	maxText   = 1 << 20 // bytes
	maxCalls  = 20      // the limit per reply; further calls are dropped
	maxMisses = 200     // brackets without a call
)

// nameBefore matches functionary's form, to which all other dialects with the name in front are rewritten.
var nameBefore = lazy.Regexp(`>>>\s*([\w.-]+)\s*\n`)

// Calls parses the tool calls in a text, in any dialect, and returns them with the text around them. A call must
// name one of the tools. A truncated call is ignored.
func Calls(text string, tools []llm.ToolSpec) (calls []llm.Call, rest string) {
	if len(text) > maxText {
		return nil, text
	}
	k := knownOf(tools)
	calls, rest = k.findCalls(text)
	if len(calls) == 0 && isMarked(text) {
		k.any = true // meant as a call: running it reports the available tools
		return k.findCalls(text)
	}
	return calls, rest
}

// findCalls parses the calls in a text: each balanced piece after a bracket is tried. rest is the text without the
// calls, and without call marks if there were calls. An object that is not a call is skipped whole, since its
// contents belong to it. Of a list only the bracket is skipped, since it may contain calls.
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
			text[start] == '{' { // a bracket is missing, but the closing tag is there
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

// readPiece parses the calls of one balanced piece of JSON or near-JSON. before is the text before it, where some
// dialects have the name.
func (k known) readPiece(piece, before string) []llm.Call {
	if strings.HasPrefix(piece, "{") != strings.HasSuffix(piece, "}") {
		return nil // mismatched brackets: closingBracket counts both kinds as one
	}
	value, ok := mendJSON(piece)
	// Models that saw a template's braces escaped, as in Python's format strings, double them.
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

// nameTail is the number of bytes before an object in which the name is searched. A name has at most 64, and
// templates put no more than a code fence between both.
const nameTail = 200

// lastNameBefore returns the name in front of arguments, empty without one.
func lastNameBefore(before string) string {
	if m := nameBefore().FindAllStringSubmatch(before[max(0, len(before)-nameTail):], -1); len(m) > 0 {
		return m[len(m)-1][1]
	}
	return ""
}

// callsOf parses a list of calls; ok is false if one entry is not a call.
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

// nameKeys and argumentKeys are the fields for the tool and its arguments. prompt.md's come first, then those of
// OpenAI's API and most templates, of Llama, Command R, and of LangChain's prompts.
var (
	nameKeys     = []string{"tool", "name", "function", "tool_name", "action"}
	argumentKeys = []string{"input", "arguments", "parameters", "args", "action_input", "tool_input"}
)

// callOf parses {"tool": …, "input": …} and its variants: calls inside another object, {"name": {…}}, and arguments
// beside the name. The last is accepted only if the tool has all of the arguments, since many objects have a "name".
// ok is false if the object is not a call. A call with unreadable arguments is Malformed.
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
		return nil, false // the arguments of an unknown tool are unknown
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

// readArguments decodes the arguments of a call: an object, null, or the tool's single value. An object may be
// encoded once or twice more, as OpenAI's API does, and models that imitate it do again.
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

// encodeObject encodes arguments as JSON.
func encodeObject(object map[string]any) json.RawMessage {
	raw, err := json.Marshal(object)
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}
