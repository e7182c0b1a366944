package textcalls

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/footnote/footnote/text/lazy"
)

// bodies rewrite calls, by the encoding of their arguments, to the form that prompt.md requests, so that one parser
// (readPiece) is enough. The order matters. A name in front comes first, since its arguments may be an object
// already. Code comes last, since any other form may contain text that looks like code.
var bodies = []struct {
	of      body
	rewrite func(k known, text string) string
}{
	{afterName, known.valuesAfterNames},
	{inBrackets, known.valuesInBrackets},
	{inFunction, known.functionTags},
	{inKeyValues, known.keyValueTags},
	{inToolTag, known.toolTags},
	{inCode, known.codeCalls},
}

// inObjects rewrites the calls of a text that are not an object with the tool's name. Only dialects whose begin
// occurs in the text are parsed.
func (k known) inObjects(text string) string {
	text = withoutMadeUp(text)
	spoken := slices.DeleteFunc(slices.Clone(dialects), func(d dialect) bool { return !d.beginsIn(text, k.names) })
	text = strings.ReplaceAll(text, "<escape>", `"`) // FunctionGemma's quote, which no other dialect has
	for _, d := range spoken {
		if d.named != nil {
			text = d.named().ReplaceAllString(text, ">>>$1\n$2") // functionary's form, for all with a name in front
		}
	}
	for _, b := range bodies {
		if slices.ContainsFunc(spoken, func(d dialect) bool { return d.body == b.of }) {
			text = b.rewrite(k, text)
		}
	}
	return text
}

// madeUp matches the tool result that a model invents after its call instead of waiting, and all text after it.
var madeUp = lazy.Regexp(`(?ms)^\s*\**Observation\**:.*|✿(?:RESULT|RETURN)✿.*`)

// withoutMadeUp truncates a text before an invented tool result. Without a call before it, the word may be part of
// an answer.
func withoutMadeUp(text string) string {
	if at := madeUp().FindStringIndex(text); at != nil &&
		(strings.Contains(text[:at[0]], "Action") || strings.Contains(text, "✿")) {
		return text[:at[0]]
	}
	return text
}

var (
	valueAfterName  = lazy.Regexp(`>>>([\w.-]+)\n([^\s{\[` + "`" + `][^\n]*)`)
	valueInBrackets = lazy.Regexp(`(?m)^\s*\**Action\**:\**\s*([\w.-]+)\[([^\]\n]*)\]\s*$`)
)

// valuesAfterNames rewrites a name followed by one value. readPiece parses objects after a name.
func (k known) valuesAfterNames(text string) string {
	return replaceGroups(valueAfterName(), text, func(m []string) string { return k.fromValue(m[1], m[2]) })
}

// valuesInBrackets rewrites "Action: name[value]", the form of the ReAct paper.
func (k known) valuesInBrackets(text string) string {
	return replaceGroups(valueInBrackets(), text, func(m []string) string { return k.fromValue(m[1], m[2]) })
}

// fromValue writes the call of a tool with one value that is not an object. It returns an empty string for an
// unknown tool, or if several of its fields could take the value.
func (k known) fromValue(said, value string) string {
	name := k.toolNamed(said)
	fields, ok := k.singleArgument(name, strings.Trim(strings.TrimSpace(value), `"'`))
	if name == "" || !ok {
		return ""
	}
	return writeObject(name, fields)
}

// The closing tags need not match, since small models often close only the outer one.
var (
	functionTag = lazy.Regexp(
		`(?s)<(?:function|invoke)(?:\s+name)?[=:]\s*"?([\w.-]+)"?\s*>(.*?)</(?:function|invoke|tool_call)>`,
	)
	parameterTag = lazy.Regexp(`(?s)<parameter(?:\s+name)?[=:]\s*"?([\w.-]+)"?\s*>(.*?)</parameter>`)
)

// functionTags rewrites <function=name> and <invoke name="name">, with parameters in tags or an object.
func (k known) functionTags(text string) string {
	return replaceGroups(functionTag(), text, func(m []string) string {
		arguments := strings.TrimSpace(m[2])
		if fields := fieldsOf(parameterTag(), arguments); len(fields) > 0 {
			return writeObject(m[1], fields)
		}
		if arguments == "" {
			arguments = "{}"
		}
		return `{"tool":"` + m[1] + `","input":` + arguments + `}`
	})
}

var (
	keyValueCall = lazy.Regexp(`(?s)<tool_call>\s*([\w.-]+)\s*((?:<arg_key>.*?</arg_value>\s*)*)</tool_call>`)
	keyValueTag  = lazy.Regexp(`(?s)<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>`)
)

// keyValueTags rewrites GLM's calls: the name, then alternating keys and values.
func (k known) keyValueTags(text string) string {
	return replaceGroups(keyValueCall(), text, func(m []string) string {
		if k.toolNamed(m[1]) == "" {
			return ""
		}
		return writeObject(m[1], fieldsOf(keyValueTag(), m[2]))
	})
}

var fieldTag = lazy.Regexp(`(?s)<(\w+)>(.*?)</(\w+)>`)

// toolTags rewrites <name><field>value</field></name> for each tool.
func (k known) toolTags(text string) string {
	for _, name := range k.names {
		text = withToolTag(text, name)
	}
	return text
}

// withToolTag rewrites tags with the name of one tool: fields in tags, or an object.
func withToolTag(text, name string) string {
	opening, closing := "<"+name+">", "</"+name+">"
	before, rest, ok := strings.Cut(text, opening)
	body, after, closed := strings.Cut(rest, closing)
	if !ok || !closed {
		return text
	}
	fields := map[string]any{}
	for _, m := range fieldTag().FindAllStringSubmatch(body, -1) {
		if m[1] == m[3] {
			fields[m[1]] = valueOf(strings.TrimSpace(m[2]))
		}
	}
	if inner, ok := mendJSON(strings.TrimSpace(body)); ok && len(fields) == 0 {
		if given, ok := inner.(map[string]any); ok {
			fields = given
		}
	}
	return before + writeObject(name, fields) + withToolTag(after, name)
}

// replaceGroups is ReplaceAllStringFunc with the groups of each match; an empty result keeps the match.
func replaceGroups(re *regexp.Regexp, text string, with func(groups []string) string) string {
	return re.ReplaceAllStringFunc(text, func(match string) string {
		if out := with(re.FindStringSubmatch(match)); out != "" {
			return out
		}
		return match
	})
}

// fieldsOf parses pairs of a name and a value from tags. The last of repeated names is used, as in JSON.
func fieldsOf(re *regexp.Regexp, text string) map[string]any {
	fields := map[string]any{}
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		fields[m[1]] = valueOf(strings.TrimSpace(m[2]))
	}
	return fields
}

// valueOf decodes a value as JSON, or returns the text itself. Tags have no quotes to distinguish "3" from 3, and
// schemas have numbers more often than digits as text.
func valueOf(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return text
}

// writeObject encodes a call in the form that readPiece parses: {"tool": …, "input": …}. It returns an empty string
// if a value can't be encoded, which does not happen for decoded values.
func writeObject(name string, fields map[string]any) string {
	raw, err := json.Marshal(map[string]any{"tool": name, "input": fields})
	if err != nil {
		return ""
	}
	return string(raw)
}
