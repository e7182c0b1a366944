package ground

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

// maxReturned is how much of what tools without passages returned is kept for the check, in bytes.
const maxReturned = 32 << 10

// ToolResults is what tools came to that show no passages. An answer may say it without a footnote.
type ToolResults struct {
	size  int      // of what is kept, in bytes
	prose []string // what tools of other servers say
	Facts string   // values of calculations and of the library's list
	names string   // what the facts are called: titles, file names, fields. They prove nothing
	tools []string // that returned it, each once
}

// Calculator is the name of the tool whose results are calculations.
const Calculator = "calculate"

// IsEmpty reports whether no such tool has answered.
func (r *ToolResults) IsEmpty() bool { return len(r.tools) == 0 }

// DisplayName is what a reader calls all of it.
func (r *ToolResults) DisplayName() string {
	if len(r.tools) == 1 && r.tools[0] == Calculator {
		return TheCalculation
	}
	return whatReturned
}

// Keep keeps what a tool returned that shows no passages, as far as there is room. verbatim says that the tool is
// another server's, which says what it likes; message is what a reader was told of the call.
func (r *ToolResults) Keep(tool string, verbatim bool, input, output json.RawMessage, message string) {
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
		r.Facts += strings.ToValidUTF8(string(output[:min(room, len(output))]), "") + "\n\n"
		return
	}
	r.add("", v)
}

// add takes over a value of an output.
func (r *ToolResults) add(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			r.names += k + "\n\n"
			r.add(k, v[k])
		}
	case []any:
		r.Facts += strconv.Itoa(len(v)) + "\n\n"
		for _, item := range v {
			r.add(key, item)
		}
	case json.Number:
		r.Facts += v.String() + "\n\n"
	case string:
		if key == "title" || key == "filename" || key == "doc_id" {
			r.names += v + "\n\n"
			return
		}
		r.Facts += v + "\n\n"
		if day, err := time.Parse(time.DateOnly, v[:min(len(v), len(time.DateOnly))]); err == nil {
			r.Facts += day.Format("2 January 2006") + "\n\n"
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
func (r *ToolResults) text() string { return strings.Join(r.prose, "\n\n") + "\n\n" + r.Facts }

// StatedByTools reports whether a sentence says what tools returned. The words of the question need not be in what they
// returned if it is about the library's list, or if the sentence has a number that a tool returned and the question
// does not have.
func (e *Evidence) StatedByTools(said string) bool {
	if slices.ContainsFunc(e.Results.prose, func(p string) bool { return e.citer.Judge.Backed(said, MetaWords, p) }) {
		return true
	}
	if e.Results.Facts == "" {
		return false
	}
	about := MetaWords
	if e.Listing || e.hasResult(said) {
		about += e.question
	}
	return e.citer.Judge.States(said, about, e.Results.names, e.Results.Facts)
}

// hasResult reports whether a sentence has a number that a tool returned and that the question does not have.
func (e *Evidence) hasResult(said string) bool {
	results, asked := Numeral.FindAllString(e.Results.Facts, -1), Numeral.FindAllString(e.question, -1)
	return slices.ContainsFunc(Numeral.FindAllString(said, -1), func(n string) bool {
		return slices.Contains(results, n) && !slices.Contains(asked, n)
	})
}

// FactualClaims are the sentences of an answer that state something. Where there are none, what stands in its
// headings and its code states it.
func (e *Evidence) FactualClaims(markdown string) []Claim {
	var out []Claim
	for _, c := range e.ClaimsOf(markdown) {
		if IsFactualClaim(c.Text) {
			out = append(out, c)
		}
	}
	if len(out) > 0 {
		return out
	}
	return linesOf(markdown, codeLine, headingLine, rowLine)
}

// linesOf are the blocks of some kinds that have content words, as claims.
func linesOf(markdown string, kinds ...lineKind) []Claim {
	var out []Claim
	for _, b := range blocks(markdown) {
		said := strings.Trim(strings.TrimSpace(b.text), "#*`~ ")
		if slices.Contains(kinds, b.kind) && CountContentWords(said) > 0 && utf8.ValidString(said) {
			out = append(out, Claim{Text: said})
		}
	}
	return out
}
