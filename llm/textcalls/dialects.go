package textcalls

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"footnote/llm"
)

// known are the tools that a text may call.
type known struct {
	names  []string
	fields map[string][]string // of each, the one that a single value is for first
	any    bool                // a tool that there is not may be called as well
}

// knownOf reads names and fields of tools. The required field comes first: a single value is meant for it.
func knownOf(tools []llm.ToolSpec) known {
	k := known{fields: map[string][]string{}}
	for _, t := range tools {
		var schema struct {
			Properties map[string]json.RawMessage
			Required   []string
		}
		_ = json.Unmarshal(t.Schema, &schema) // without fields there is none for a single value
		fields := slices.Clone(schema.Required)
		for name := range schema.Properties {
			if !slices.Contains(fields, name) {
				fields = append(fields, name)
			}
		}
		if len(schema.Required) == 0 && len(fields) > 1 {
			fields = append([]string{""}, fields...)
		}
		k.names, k.fields[t.Name] = append(k.names, t.Name), fields
	}
	return k
}

var plainName = regexp.MustCompile(`^[A-Za-z][\w.-]{0,63}$`)

// toolNamed returns the tool that is meant, empty for none.
func (k known) toolNamed(said string) string {
	said = strings.TrimSpace(said)
	if name := llm.ToolNamed(said, k.names); name != "" || !k.any || !plainName.MatchString(said) {
		return name
	}
	return said
}

// singleArgument makes arguments of one value, for the field that it must be meant for.
func (k known) singleArgument(name string, value any) (map[string]any, bool) {
	fields := k.fields[name]
	if len(fields) == 0 || fields[0] == "" {
		return nil, false
	}
	return map[string]any{fields[0]: value}, true
}

// Forms in which the name stands before the arguments. They are rewritten to the form of functionary: ">>>name\n{…}".
var namedForms = []*regexp.Regexp{
	regexp.MustCompile(`✿FUNCTION✿:?\s*([\w.-]+)\s*✿ARGS✿:?\s*`),
	regexp.MustCompile(
		`<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*<\|tool_call_argument_begin\|>\s*`,
	),
	regexp.MustCompile(`function<[|｜]tool▁sep[|｜]>\s*([\w.-]+)\s*`),
	regexp.MustCompile(`<[|｜]tool▁call▁begin[|｜]>\s*([\w.-]+)\s*<[|｜]tool▁sep[|｜]>\s*`),
	regexp.MustCompile(`<start_function_call>\s*call:([\w.-]+)\s*`),
	regexp.MustCompile(`(?m)^\s*\**Action\**:\**\s*` + "`?" + `([\w.-]+)` + "`?" + `\s*\n\s*\**Action Input\**:\**\s*`),
}

var (
	functionTag = regexp.MustCompile(
		`(?s)<(?:function|invoke)(?:\s+name)?[=:]\s*"?([\w.-]+)"?\s*>(.*?)</(?:function|invoke|tool_call)>`,
	)
	parameterTag = regexp.MustCompile(`(?s)<parameter(?:\s+name)?[=:]\s*"?([\w.-]+)"?\s*>(.*?)</parameter>`)
	keyValueTag  = regexp.MustCompile(`(?s)<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>`)
	glmTag       = regexp.MustCompile(`(?s)<tool_call>\s*([\w.-]+)\s*((?:<arg_key>.*?</arg_value>\s*)*)</tool_call>`)
	fieldTag     = regexp.MustCompile(`(?s)<(\w+)>(.*?)</(\w+)>`)
	observation  = regexp.MustCompile(`(?ms)^\s*\**Observation\**:.*|✿(?:RESULT|RETURN)✿.*`)
	plainInput   = regexp.MustCompile(`>>>([\w.-]+)\n([^\s{\[` + "`" + `][^\n]*)`)
	bracketInput = regexp.MustCompile(`(?m)^\s*\**Action\**:\**\s*([\w.-]+)\[([^\]\n]*)\]\s*$`)
	actionHead   = regexp.MustCompile(`^\**Action\**:\**`)
)

// cutAction returns what follows "Action:".
func cutAction(text string) (string, bool) {
	head := actionHead.FindString(text)
	return text[len(head):], head != ""
}

// inJSON rewrites the calls of a text that are not written as an object with the tool's name in it.
func inJSON(text string, k known) string {
	if at := observation.FindStringIndex(text); at != nil &&
		(strings.Contains(text[:at[0]], "Action") || strings.Contains(text, "✿")) {
		text = text[:at[0]] // the model made up what the tool returns, and what follows from that
	}
	text = strings.ReplaceAll(text, "<escape>", `"`)
	for _, form := range namedForms {
		text = form.ReplaceAllString(text, ">>>$1\n")
	}
	text = replaceGroups(plainInput, text, func(m []string) string { return k.fromValue(m[1], m[2]) })
	text = replaceGroups(bracketInput, text, func(m []string) string { return k.fromValue(m[1], m[2]) })
	text = replaceGroups(functionTag, text, func(m []string) string {
		arguments := strings.TrimSpace(m[2])
		if fields := fieldsOf(parameterTag, arguments); len(fields) > 0 {
			return writeObject(m[1], fields)
		}
		if arguments == "" {
			arguments = "{}"
		}
		return `{"tool":"` + m[1] + `","input":` + arguments + `}`
	})
	text = replaceGroups(glmTag, text, func(m []string) string {
		if k.toolNamed(m[1]) == "" {
			return ""
		}
		return writeObject(m[1], fieldsOf(keyValueTag, m[2]))
	})
	for _, name := range k.names {
		text = withNamedTag(text, name)
	}
	return withCode(text, k)
}

// fromValue writes the call of a tool with one value that is no object.
func (k known) fromValue(said, value string) string {
	name := k.toolNamed(said)
	fields, ok := k.singleArgument(name, strings.Trim(strings.TrimSpace(value), `"'`))
	if name == "" || !ok {
		return ""
	}
	return writeObject(name, fields)
}

// replaceGroups is ReplaceAllStringFunc with the groups of each match; an empty result leaves the match.
func replaceGroups(re *regexp.Regexp, text string, with func(groups []string) string) string {
	return re.ReplaceAllStringFunc(text, func(match string) string {
		if out := with(re.FindStringSubmatch(match)); out != "" {
			return out
		}
		return match
	})
}

// fieldsOf reads pairs of a name and a value out of tags.
func fieldsOf(re *regexp.Regexp, text string) map[string]any {
	fields := map[string]any{}
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		fields[m[1]] = valueOf(strings.TrimSpace(m[2]))
	}
	return fields
}

// valueOf is a value as JSON, or the text itself.
func valueOf(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return text
}

// writeObject writes a call in the one form that readPiece reads: {"tool": …, "input": …}.
func writeObject(name string, fields map[string]any) string {
	raw, err := json.Marshal(map[string]any{"tool": name, "input": fields})
	if err != nil {
		return ""
	}
	return string(raw)
}

// withNamedTag rewrites <name><field>value</field></name>.
func withNamedTag(text, name string) string {
	opening, closing := "<"+name+">", "</"+name+">"
	before, rest, ok := strings.Cut(text, opening)
	body, after, closed := strings.Cut(rest, closing)
	if !ok || !closed {
		return text
	}
	fields := map[string]any{}
	for _, m := range fieldTag.FindAllStringSubmatch(body, -1) {
		if m[1] == m[3] {
			fields[m[1]] = valueOf(strings.TrimSpace(m[2]))
		}
	}
	if inner, ok := mendJSON(strings.TrimSpace(body)); ok && len(fields) == 0 {
		if given, ok := inner.(map[string]any); ok {
			fields = given
		}
	}
	return before + writeObject(name, fields) + withNamedTag(after, name)
}
