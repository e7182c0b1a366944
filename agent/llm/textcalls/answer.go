package textcalls

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/agent/llm"
)

// answerKeys are the fields of JSON that wraps an answer. besideAnswer are allowed fields beside it, first those
// that list footnotes. answerTools are tools that agents are often trained with but that do not exist here: their
// argument is the answer.
var (
	answerKeys   = []string{"answer", "final_answer", "final", "response", "text", "content"}
	besideAnswer = []string{
		"sources", "citations", "references", "footnotes", "confidence", "thought", "reasoning", "type", "role",
	}
	answerTools = []string{"finish", "answer", "final_answer", "final", "respond", "response"}
)

// showAnswer shows the held text if it is an answer in JSON: an object, or a call of one of answerTools. An answer
// may quote JSON. So if the prompt did not request JSON, the object must be the whole reply, with one of the first
// four keys and only besideAnswer fields. Text before the object becomes a thought and text after it part of the
// answer. The other fields are dropped.
func (r *reply) showAnswer(held string, calls int) bool {
	start := strings.IndexByte(held, '{')
	if start < 0 || r.calls > 0 || r.shown && !r.json {
		return false
	}
	size := closingBracket(held[start:])
	if size < 0 {
		return false
	}
	value, _ := mendJSON(held[start : start+size])
	object, _ := value.(map[string]any)
	before, after := held[:start], held[start+size:]
	said := r.answerOfCall(object)
	if said == "" && calls == 0 {
		said = r.answerOf(object, withoutMarkup(before+after) == "")
	}
	if said == "" {
		return false
	}
	if fence := strings.LastIndex(before, "```"); fence >= 0 {
		before, after = before[:fence], before[fence:]+after
	}
	r.yieldThought(before)
	r.showText(said)
	if after = withoutMarkup(after); after != "" {
		r.showText("\n\n" + after)
	}
	if delete(object, "type"); len(object) > 0 {
		r.yieldPart(llm.Dropped{Text: string(encodeObject(object)), Message: "Removed extra fields from the reply"})
	}
	return true
}

// answerOf removes the answer from an object and returns it, empty without one. alone reports whether the object is the
// whole reply.
func (r *reply) answerOf(object map[string]any, alone bool) string {
	for i, key := range answerKeys {
		if r.json || alone && i <= 3 && onlyAnswer(object, key) {
			if said := takeAnswer(object, key); said != "" {
				return said
			}
		}
	}
	return ""
}

// answerOfCall removes the answer from a call of one of answerTools that the request does not have, and returns it.
func (r *reply) answerOfCall(object map[string]any) string {
	nameKey := "name"
	if _, is := object["tool"].(string); is {
		nameKey = "tool"
	}
	name, _ := object[nameKey].(string)
	if !slices.Contains(answerTools, strings.ToLower(name)) ||
		slices.ContainsFunc(r.req.Tools, func(t llm.ToolSpec) bool { return t.Name == name }) {
		return ""
	}
	for _, key := range []string{"arguments", "parameters", "input", "args"} {
		said := ""
		switch given := object[key].(type) {
		case string:
			said = takeAnswer(object, key)
		case map[string]any:
			for _, inner := range answerKeys {
				if said = takeAnswer(given, inner); said != "" {
					break
				}
			}
			if len(given) == 0 {
				delete(object, key)
			}
		}
		if said != "" {
			delete(object, nameKey)
			return said
		}
	}
	return ""
}

// onlyAnswer reports whether an object has only an answer and besideAnswer fields.
func onlyAnswer(object map[string]any, key string) bool {
	for other := range object {
		if other != key && !slices.Contains(besideAnswer, other) {
			return false
		}
	}
	return true
}

// takeAnswer removes the answer under a key from an object and returns it, empty without one. An answer without
// footnotes gets the numbers of the lists beside it. Numbers up to 999 are footnotes; a longer one is a year or an
// id.
func takeAnswer(object map[string]any, key string) string {
	said, _ := object[key].(string)
	if strings.TrimSpace(said) == "" {
		return ""
	}
	delete(object, key)
	cited := footnote().MatchString(said)
	for _, key := range besideAnswer[:4] {
		list, _ := object[key].([]any)
		others := slices.DeleteFunc(slices.Clone(list), func(entry any) bool {
			n, ok := entry.(float64)
			ok = ok && n >= 1 && n < 1000 && n == float64(int(n))
			if ok && !cited {
				said += " [" + strconv.Itoa(int(n)) + "]"
			}
			return ok
		})
		if len(list) > 0 && len(others) == 0 {
			delete(object, key)
		}
	}
	return said
}
