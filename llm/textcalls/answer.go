package textcalls

import (
	"slices"
	"strconv"
	"strings"

	"footnote/llm"
)

// answerKeys hold an answer that is wrapped in JSON; besideAnswer may stand with it, those that list footnotes first.
// answerTools are tools that agents are often trained with and that there are not here: their argument is the answer.
var (
	answerKeys   = []string{"answer", "final_answer", "final", "response", "text", "content"}
	besideAnswer = []string{
		"sources", "citations", "references", "footnotes", "confidence", "thought", "reasoning", "type", "role",
	}
	answerTools = []string{"finish", "answer", "final_answer", "final", "respond", "response"}
)

// readAnswer reads what was held as an answer in JSON: an object, or the call of a tool that only says the answer and
// that there is not. Where the prompt did not ask for JSON, an answer may be about JSON: then the object has to be all
// of the reply, under one of the first four keys, with nothing unusual beside it.
func (r *reply) readAnswer(held string, calls int) (text string, ok bool) {
	start := strings.IndexByte(held, '{')
	if start < 0 || r.calls > 0 || r.shown && !r.json {
		return "", false
	}
	end := closingBracket(held[start:])
	if end < 0 {
		return "", false
	}
	value, _ := mendJSON(held[start : start+end])
	object, _ := value.(map[string]any)
	if text, ok := r.saysAnswer(object); ok {
		return text, true
	}
	if calls > 0 {
		return "", false
	}
	alone := withoutMarkup(held[:start]+held[start+end:]) == ""
	for i, key := range answerKeys {
		said, ok := object[key].(string)
		if !ok || strings.TrimSpace(said) == "" || !r.json && (!alone || i > 3 || !onlyAnswer(object, key)) {
			continue
		}
		return withSources(said, object), true
	}
	return "", false
}

// saysAnswer reads a call of one of answerTools that the request does not have.
func (r *reply) saysAnswer(object map[string]any) (text string, ok bool) {
	name, _ := object["name"].(string)
	if tool, is := object["tool"].(string); is {
		name = tool
	}
	if !slices.Contains(answerTools, strings.ToLower(name)) ||
		slices.ContainsFunc(r.req.Tools, func(t llm.ToolSpec) bool { return t.Name == name }) {
		return "", false
	}
	for _, key := range []string{"arguments", "parameters", "input", "args"} {
		switch given := object[key].(type) {
		case string:
			return given, strings.TrimSpace(given) != ""
		case map[string]any:
			for _, key := range answerKeys {
				if said, ok := given[key].(string); ok && strings.TrimSpace(said) != "" {
					return withSources(said, given), true
				}
			}
		}
	}
	return "", false
}

// onlyAnswer reports whether an object holds an answer and nothing but what may stand beside one.
func onlyAnswer(object map[string]any, key string) bool {
	for other := range object {
		if other != key && !slices.Contains(besideAnswer, other) {
			return false
		}
	}
	return true
}

// withSources puts footnotes that stand beside an answer behind it, if it has none. Numbers up to 999 are footnotes; a
// longer one is a year or an id.
func withSources(said string, object map[string]any) string {
	if footnote.MatchString(said) {
		return said
	}
	for _, key := range besideAnswer[:4] {
		list, _ := object[key].([]any)
		for _, entry := range list {
			if n, ok := entry.(float64); ok && n >= 1 && n < 1000 && n == float64(int(n)) {
				said += " [" + strconv.Itoa(int(n)) + "]"
			}
		}
	}
	return said
}
