package cite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
)

// maxReturned is the limit, in bytes, for stored results of tools without passages. Results above it are not stored,
// so a sentence that rests on them is unsupported.
const maxReturned = 32 << 10

// ToolResults stores the results of tools without passages, which answers may state without a footnote. It belongs
// to one run and is filled in the order of the calls.
type ToolResults struct {
	size  int      // stored bytes
	prose []string // output of other servers' tools
	Facts string   // values of calculations and of the library's list
	sums  string   // values of calculations alone
	// inputs of calculations
	inputs string
	names  string   // names of JSON fields, which are no evidence
	tools  []string // names of the tools, deduplicated
	// a result other than a calculation is stored
	listed bool
	// words that refer to facts: "The library holds …", "12 times 4"
	vocabulary string

	titles []string // titles, file names and ids of listed documents
}

// IsEmpty reports whether no result is stored.
func (r *ToolResults) IsEmpty() bool { return len(r.tools) == 0 }

// DisplayName returns the user-facing name of the results.
func (r *ToolResults) DisplayName() string {
	if len(r.tools) > 0 && !r.listed {
		return TheCalculation
	}
	return whatReturned
}

// Returned is the result of a call of a tool without passages.
type Returned struct {
	Tool          string
	Verbatim      bool // the tool is another server's, with output of unknown format
	Computed      bool // the output is a calculation
	Input, Output json.RawMessage
	Message       string // the step's message
	Vocabulary    string // words that refer to the result, which are no evidence
}

// Keep stores the result of a call, up to the limit. Output of other servers is stored as prose, since its format is
// unknown. Of our own tools, every JSON value is stored as a separate fact.
func (r *ToolResults) Keep(call Returned) {
	room := maxReturned - r.size
	if room <= 0 {
		return
	}
	output := call.Output
	r.size += len(output)
	r.tools, r.listed = text.AppendNew(r.tools, call.Tool), r.listed || !call.Computed
	if call.Verbatim {
		said := call.Message + ". " + string(call.Input) + "\n\n" + string(output[:min(room, len(output))])
		r.prose = append(r.prose, strings.ToValidUTF8(said, ""))
		return
	}
	r.vocabulary += " " + call.Vocabulary + " "
	if call.Computed {
		before := len(r.Facts)
		defer func() { r.sums += r.Facts[before:] }()
		r.inputs += string(call.Input) + "\n\n"
	}
	decoder := json.NewDecoder(bytes.NewReader(output[:min(room, len(output))]))
	decoder.UseNumber()
	var v any
	if decoder.Decode(&v) != nil { // cut at the limit: no valid JSON
		r.Facts += strings.ToValidUTF8(string(output[:min(room, len(output))]), "") + "\n\n"
		return
	}
	r.addValue("", v)
}

// addValue stores a value of an output. Dates are also stored in words, as answers write them.
func (r *ToolResults) addValue(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range sortedKeys(v) {
			r.names += k + "\n\n"
			r.addValue(k, v[k])
		}
	case []any:
		r.Facts += strconv.Itoa(len(v)) + "\n\n"
		for _, item := range v {
			r.addValue(key, item)
		}
	case json.Number:
		r.Facts += v.String() + "\n\n"
	case string:
		if key == "title" || key == "filename" || key == "doc_id" {
			r.titles = text.AppendNew(r.titles, v)
			return
		}
		r.Facts += v + "\n\n"
		if day, err := time.Parse(time.DateOnly, v[:min(len(v), len(time.DateOnly))]); err == nil {
			r.Facts += day.Format("2 January 2006") + "\n\n"
		}
	}
}

// sortedKeys returns the keys of an object in order, so that the stored facts are deterministic.
func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// allText returns all stored prose and facts.
func (r *ToolResults) allText() string { return strings.Join(r.prose, "\n\n") + "\n\n" + r.Facts }

// isReturned reports whether tool results support a sentence. These are prose of another server's tool, the result
// of a calculation in words of the question or of a passage, and a listed fact about a named document. For lists and
// sums, words alone are not enough: numbers must match too, see Judge.States.
func (e *Evidence) isReturned(said string, by WordMatcher) bool {
	if slices.ContainsFunc(e.Results.prose, func(p string) bool { return by(said, MetaWords, p) }) {
		return true
	}
	return e.IsResult(said) || e.isListed(said)
}

// ResemblesTools reports whether a sentence may be a paraphrase of tool results.
func (e *Evidence) ResemblesTools(said string) bool {
	return e.isReturned(said, e.citer.Judge.Resembles)
}

// IsResult reports whether a sentence states the result of a calculation, in words of the question, of the operation
// and of the passages with its inputs.
func (e *Evidence) IsResult(said string) bool {
	if e.Results.sums == "" {
		return false
	}
	said = e.withResults(said)
	about := support.SumMetaWords + e.Results.vocabulary
	if e.hasResult(said) {
		about += e.question + " " + e.Results.inputs
		inputs := e.numbersOf(e.Results.inputs)
		for _, src := range e.sources.All() {
			if len(inputs) == 0 || slices.ContainsFunc(e.numbersOf(src.Passage.Text), func(n string) bool {
				return slices.Contains(inputs, n)
			}) {
				about += " " + src.Passage.Text
			}
		}
	}
	return e.citer.Judge.States(cmp.Or(e.languageOf(said), "en"), said, about, e.Results.names, e.Results.sums)
}

// isTotal reports whether a text with footnotes states a value computed from the table rows behind them. Each
// footnote must be a table row, and each number a result, or in the question or one of the rows. So “the sum is
// 4,500 [1][2]” is supported although no row contains 4,500.
func (e *Evidence) isTotal(said string, numbers []int) bool {
	known := e.question + "\n" + e.Results.sums
	for _, n := range numbers {
		src, ok := e.sourceOf(n)
		if !ok || !src.Passage.Part {
			return false
		}
		known += "\n" + src.Passage.Text
	}
	there := Numeral().FindAllString(known, -1)
	said = e.withResults(said)
	return len(numbers) > 0 && e.hasResult(said) && !slices.ContainsFunc(
		Numeral().FindAllString(said, -1), func(n string) bool { return !slices.Contains(there, n) },
	) && e.IsResult(said)
}

// isListed reports whether the library's list supports a sentence. A title must match as a whole, since its single
// words may mean anything.
func (e *Evidence) isListed(said string) bool {
	if e.Results.Facts == "" {
		return false
	}
	about, rest, named := MetaWords+e.Results.vocabulary, said, false
	for _, title := range e.Results.titles {
		var found bool
		if rest, found = cutTitle(rest, title); found {
			named = true
		}
	}
	if CountContentWords(rest) == 0 {
		return named
	}
	if e.Listing {
		about += e.question
	}
	return e.citer.Judge.States("", rest, about, e.Results.names, e.Results.Facts) ||
		named && !negation().MatchString(rest) && !e.citer.Judge.HasOwnWords(rest, about, e.Results.Facts)
}

// cutTitle removes a title from a sentence, ignoring case, and reports whether it was found.
func cutTitle(said, title string) (rest string, found bool) {
	at := strings.Index(strings.ToLower(said), strings.ToLower(title))
	if title == "" || at < 0 || at+len(title) > len(said) {
		return said, false
	}
	return said[:at] + " " + said[at+len(title):], true
}

// hasResult reports whether a sentence contains a calculated number that is not in the question.
func (e *Evidence) hasResult(said string) bool {
	results, asked := Numeral().FindAllString(e.Results.sums, -1), Numeral().FindAllString(e.question, -1)
	return slices.ContainsFunc(Numeral().FindAllString(said, -1), func(n string) bool {
		return slices.Contains(results, n) && !slices.Contains(asked, n)
	})
}

// FactualClaims returns the factual sentences of an answer. Without any, the fallback is its headings, code and
// table rows.
func (e *Evidence) FactualClaims(markdown string) []Claim {
	if out := e.factualStatements(markdown); len(out) > 0 {
		return out
	}
	return allLines(markdown)
}

// factualStatements returns the factual sentences of an answer.
func (e *Evidence) factualStatements(markdown string) []Claim {
	var out []Claim
	for _, c := range e.ClaimsOf(markdown) {
		if IsFactualClaim(c.Text) && !e.confirmsLog(c.Text) {
			out = append(out, c)
		}
	}
	return out
}

// allLines returns the lines that may make claims in an answer without a factual sentence.
func allLines(markdown string) []Claim { return linesOf(markdown, codeLine, headingLine, rowLine) }

// linesOf returns the blocks of the given kinds with content words, as claims.
func linesOf(markdown string, kinds ...lineKind) []Claim {
	var out []Claim
	for _, b := range splitBlocks(markdown) {
		said := strings.Trim(strings.TrimSpace(b.text), "#*`~ ")
		if slices.Contains(kinds, b.kind) && CountContentWords(said) > 0 && utf8.ValidString(said) {
			out = append(out, Claim{Text: said})
		}
	}
	return out
}
