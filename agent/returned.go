package agent

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"footnote/corpus/text"
)

// returned is what tools came to that show no passages. An answer may say it without a footnote.
type returned struct {
	size  int      // of what is kept, in bytes
	prose []string // what tools of other servers say
	facts string   // values of calculations and of the library's list
	names string   // what the facts are called: titles, file names, fields. They prove nothing
	tools []string // that returned it, each once
}

// calculator is the name of the tool whose results are calculations.
const calculator = "calculate"

// called is what a reader calls all of it.
func (r *returned) called() string {
	if len(r.tools) == 1 && r.tools[0] == calculator {
		return theCalculation
	}
	return whatReturned
}

// keep keeps what a tool returned that shows no passages, as far as there is room. verbatim says that the tool is another server's, which
// says what it likes; message is what a reader was told of the call.
func (r *returned) keep(tool string, verbatim bool, input, output json.RawMessage, message string) {
	room := maxReturned - r.size
	if room <= 0 {
		return
	}
	r.size += len(output)
	r.tools = text.AppendNew(r.tools, tool)
	if verbatim {
		said := message + ". " + string(input) + "\n\n" + string(output[:min(room, len(output))])
		r.prose = append(r.prose, strings.ToValidUTF8(said, ""))
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(output[:min(room, len(output))]))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil { // too long to be kept whole
		r.facts += strings.ToValidUTF8(string(output[:min(room, len(output))]), "") + "\n\n"
		return
	}
	r.add("", v)
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
func (e *evidence) stated(said string) bool {
	if slices.ContainsFunc(e.returned.prose, func(p string) bool { return e.cite.judge.Backed(said, talkAbout, p) }) {
		return true
	}
	if e.returned.facts == "" {
		return false
	}
	about := talkAbout
	if e.listing || e.hasResult(said) {
		about += e.question
	}
	return e.cite.judge.States(said, about, e.returned.names, e.returned.facts)
}

// hasResult reports whether a sentence has a number that a tool returned and that the question does not have.
func (e *evidence) hasResult(said string) bool {
	results, asked := numeral.FindAllString(e.returned.facts, -1), numeral.FindAllString(e.question, -1)
	return slices.ContainsFunc(numeral.FindAllString(said, -1), func(n string) bool {
		return slices.Contains(results, n) && !slices.Contains(asked, n)
	})
}

// statements are the sentences of an answer that state something. Where there are none, what stands in its headings and its code states it.
func (e *evidence) statements(markdown string) []claim {
	var out []claim
	for _, c := range e.claimsOf(markdown) {
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
