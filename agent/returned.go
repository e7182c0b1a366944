package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"footnote/agent/question"
)

// returned is what tools came to that show no passages. An answer may say it without a footnote.
type returned struct {
	size  int      // of what is kept, in bytes
	prose []string // what tools of other servers say
	facts string   // values of calculations and of the library's list
	names string   // what the facts are called: titles, file names, fields. They prove nothing
	tools []string // that returned it, each once
}

// called is what a reader calls all of it.
func (r *returned) called() string {
	if len(r.tools) == 1 && r.tools[0] == calculateName {
		return theCalculation
	}
	return whatReturned
}

// keepReturned keeps what a tool returned that shows no passages, as far as there is room.
func (w *work) keepReturned(t *tool, input, output json.RawMessage, message string) {
	room := maxReturned - w.returned.size
	if room <= 0 {
		return
	}
	w.returned.size += len(output)
	w.returned.tools = appendNew(w.returned.tools, t.name)
	if t.verbatim { // of another server
		text := message + ". " + string(input) + "\n\n" + string(output[:min(room, len(output))])
		w.returned.prose = append(w.returned.prose, strings.ToValidUTF8(text, ""))
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(output[:min(room, len(output))]))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil { // too long to be kept whole
		w.returned.facts += strings.ToValidUTF8(string(output[:min(room, len(output))]), "") + "\n\n"
		return
	}
	w.returned.add("", v)
}

// add takes over a value of an output.
func (r *returned) add(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			r.names += k + "\n\n"
			r.add(k, v[k])
		}
	case []any:
		r.facts += strconv.Itoa(len(v)) + "\n\n"
		for _, item := range v {
			r.add(key, item)
		}
	case json.Number:
		r.facts += v.String() + "\n\n"
	case string:
		if key == "title" || key == "filename" || key == "doc_id" {
			r.names += v + "\n\n"
			return
		}
		r.facts += v + "\n\n"
		if day, err := time.Parse(time.DateOnly, v[:min(len(v), len(time.DateOnly))]); err == nil {
			r.facts += day.Format("2 January 2006") + "\n\n"
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// text is all of it.
func (r *returned) text() string { return strings.Join(r.prose, "\n\n") + "\n\n" + r.facts }

// stated reports whether a sentence says what tools returned. The words of the question count neither way if it is about the library's list,
// or if the sentence has a number that came from a tool and not from the question.
func (w *work) stated(said string) bool {
	if slices.ContainsFunc(w.returned.prose, func(p string) bool { return w.cite.judge.Backed(said, talkAbout, p) }) {
		return true
	}
	if w.returned.facts == "" {
		return false
	}
	about := talkAbout
	if w.asked.Type == question.Metadata || w.hasResult(said) {
		about += w.run.Request.Message
	}
	return w.cite.judge.States(said, about, w.returned.names, w.returned.facts)
}

// hasResult reports whether a sentence has a number that a tool returned and that the question does not have.
func (w *work) hasResult(said string) bool {
	results, asked := numeral.FindAllString(w.returned.facts, -1), numeral.FindAllString(w.run.Request.Message, -1)
	return slices.ContainsFunc(numeral.FindAllString(said, -1), func(n string) bool {
		return slices.Contains(results, n) && !slices.Contains(asked, n)
	})
}

// statements are the sentences of an answer that state something. Where there are none, what stands in its headings and its code states it.
func (w *work) statements(markdown string) []claim {
	var out []claim
	for _, c := range w.claimsOf(markdown) {
		if states(c.text) {
			out = append(out, c)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, b := range blocks(markdown) {
		if said := strings.Trim(strings.TrimSpace(b.text), "#*`~ "); (b.kind == codeLine || b.kind == headingLine || b.kind == rowLine) && contentWords(said) > 0 && utf8.ValidString(said) {
			out = append(out, claim{text: said})
		}
	}
	return out
}

// restsOnTools reports whether an answer without footnotes needs none, because it says what tools returned that show no passages: at least one
// of its sentences does, or none states anything and the documents were looked into.
func (w *work) restsOnTools(markdown string) bool {
	if !w.bare || !w.desk.sources.isEmpty() && w.asked.Type != question.Metadata {
		return false
	}
	said := w.statements(markdown)
	if len(said) == 0 {
		return w.looked() // a word on what was searched is true of a search only
	}
	return slices.ContainsFunc(said, func(c claim) bool { return w.stated(c.text) })
}
