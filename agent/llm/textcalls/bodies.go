package textcalls

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// bodies rewrite the calls of a text, by how their arguments are written, to objects like the one that prompt.md asks
// for, so that one reader (readPiece) is enough. They run in this order, each over what the ones before it left: a name
// in front comes first since its arguments may be an object already, code comes last since any other form may hold
// text that looks like it.
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

// inObjects rewrites the calls of a text that are not written as an object with the tool's name in it. Only the
// dialects that begin somewhere in it are read.
func (k known) inObjects(text string) string {
	text = withoutMadeUp(text)
	spoken := slices.DeleteFunc(slices.Clone(dialects), func(d dialect) bool { return !d.beginsIn(text, k.names) })
	text = strings.ReplaceAll(text, "<escape>", `"`) // FunctionGemma's quote, which no other text has
	for _, d := range spoken {
		if d.named != nil {
			text = d.named.ReplaceAllString(text, ">>>$1\n$2") // functionary's form, for all whose name is in front
		}
	}
	for _, b := range bodies {
		if slices.ContainsFunc(spoken, func(d dialect) bool { return d.body == b.of }) {
			text = b.rewrite(k, text)
		}
	}
	return text
}

// madeUp is what a model goes on with after its call when it does not wait: the result, and all that follows from it.
var madeUp = regexp.MustCompile(`(?ms)^\s*\**Observation\**:.*|✿(?:RESULT|RETURN)✿.*`)

// withoutMadeUp cuts a text before the result of a call that the model made up, and what follows from that. Without a
// call before it the word may be one of an answer.
func withoutMadeUp(text string) string {
	if at := madeUp.FindStringIndex(text); at != nil &&
		(strings.Contains(text[:at[0]], "Action") || strings.Contains(text, "✿")) {
		return text[:at[0]]
	}
	return text
}

var (
	valueAfterName  = regexp.MustCompile(`>>>([\w.-]+)\n([^\s{\[` + "`" + `][^\n]*)`)
	valueInBrackets = regexp.MustCompile(`(?m)^\s*\**Action\**:\**\s*([\w.-]+)\[([^\]\n]*)\]\s*$`)
)

// valuesAfterNames rewrites a name with one value behind it. Objects behind a name are found by readPiece.
func (k known) valuesAfterNames(text string) string {
	return replaceGroups(valueAfterName, text, func(m []string) string { return k.fromValue(m[1], m[2]) })
}

// valuesInBrackets rewrites "Action: name[value]", the form of the paper on ReAct.
func (k known) valuesInBrackets(text string) string {
	return replaceGroups(valueInBrackets, text, func(m []string) string { return k.fromValue(m[1], m[2]) })
}

// fromValue writes the call of a tool with one value that is no object, empty if there is no such tool or the value may
// be meant for several of its fields.
func (k known) fromValue(said, value string) string {
	name := k.toolNamed(said)
	fields, ok := k.singleArgument(name, strings.Trim(strings.TrimSpace(value), `"'`))
	if name == "" || !ok {
		return ""
	}
	return writeObject(name, fields)
}

// The closing tags need not match: small models often close the outer one only.
var (
	functionTag = regexp.MustCompile(
		`(?s)<(?:function|invoke)(?:\s+name)?[=:]\s*"?([\w.-]+)"?\s*>(.*?)</(?:function|invoke|tool_call)>`,
	)
	parameterTag = regexp.MustCompile(`(?s)<parameter(?:\s+name)?[=:]\s*"?([\w.-]+)"?\s*>(.*?)</parameter>`)
)

// functionTags rewrites <function=name> and <invoke name="name">, with parameters in tags or an object.
func (k known) functionTags(text string) string {
	return replaceGroups(functionTag, text, func(m []string) string {
		arguments := strings.TrimSpace(m[2])
		if fields := fieldsOf(parameterTag, arguments); len(fields) > 0 {
			return writeObject(m[1], fields)
		}
		if arguments == "" {
			arguments = "{}"
		}
		return `{"tool":"` + m[1] + `","input":` + arguments + `}`
	})
}

var (
	keyValueCall = regexp.MustCompile(`(?s)<tool_call>\s*([\w.-]+)\s*((?:<arg_key>.*?</arg_value>\s*)*)</tool_call>`)
	keyValueTag  = regexp.MustCompile(`(?s)<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>`)
)

// keyValueTags rewrites GLM's calls: the name, then keys and values in turn.
func (k known) keyValueTags(text string) string {
	return replaceGroups(keyValueCall, text, func(m []string) string {
		if k.toolNamed(m[1]) == "" {
			return ""
		}
		return writeObject(m[1], fieldsOf(keyValueTag, m[2]))
	})
}

var fieldTag = regexp.MustCompile(`(?s)<(\w+)>(.*?)</(\w+)>`)

// toolTags rewrites <name><field>value</field></name> for each tool.
func (k known) toolTags(text string) string {
	for _, name := range k.names {
		text = withToolTag(text, name)
	}
	return text
}

// withToolTag rewrites the tags that are the name of one tool: fields in tags, or an object.
func withToolTag(text, name string) string {
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
	return before + writeObject(name, fields) + withToolTag(after, name)
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

// fieldsOf reads pairs of a name and a value out of tags. Of a name that comes twice the last value counts, as in JSON.
func fieldsOf(re *regexp.Regexp, text string) map[string]any {
	fields := map[string]any{}
	for _, m := range re.FindAllStringSubmatch(text, -1) {
		fields[m[1]] = valueOf(strings.TrimSpace(m[2]))
	}
	return fields
}

// valueOf is a value as JSON, or the text itself: tags have no quotes to tell "3" from 3, and schemas ask for numbers
// more often than for figures as text.
func valueOf(text string) any {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v
	}
	return text
}

// writeObject writes a call in the one form that readPiece reads: {"tool": …, "input": …}. It is empty only if a value
// can't be written as JSON, which none that came out of JSON or a text is.
func writeObject(name string, fields map[string]any) string {
	raw, err := json.Marshal(map[string]any{"tool": name, "input": fields})
	if err != nil {
		return ""
	}
	return string(raw)
}
