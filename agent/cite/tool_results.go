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

// maxReturned is how much of what tools without passages returned is kept for the check, in bytes. What goes beyond it
// is not kept, so a sentence that rests on it is unsupported.
const maxReturned = 32 << 10

// ToolResults is what tools came to that show no passages. An answer may say it without a footnote. It belongs to one
// run and is filled in the order of the calls.
type ToolResults struct {
	size  int      // of what is kept, in bytes
	prose []string // what tools of other servers say
	Facts string   // values of calculations and of the library's list
	sums  string   // those of calculations alone
	// what calculations were made of
	inputs string
	names  string   // the fields that facts stand in. They prove nothing
	tools  []string // that returned it, each once
	// something of it was not computed
	listed bool
	// words with which answers speak of facts: "The library holds …", "12 times 4"
	vocabulary string

	titles []string // of the documents of the list, and their file names and ids
}

// IsEmpty reports whether no such tool has answered.
func (r *ToolResults) IsEmpty() bool { return len(r.tools) == 0 }

// DisplayName is what a reader calls all of it.
func (r *ToolResults) DisplayName() string {
	if len(r.tools) > 0 && !r.listed {
		return TheCalculation
	}
	return whatReturned
}

// Returned is what a call of a tool that shows no passages came to.
type Returned struct {
	Tool          string
	Verbatim      bool // the tool is another server's, which says what it likes
	Computed      bool // the output is what was calculated
	Input, Output json.RawMessage
	Message       string // what a reader was told of the call
	Vocabulary    string // words with which answers speak of the result. They prove nothing
}

// Keep keeps what a call returned, as far as there is room. Outputs of other servers are kept as prose, since their
// shape is unknown; of ours every value of the JSON becomes a fact of its own.
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
	if decoder.Decode(&v) != nil { // too long to be kept whole
		r.Facts += strings.ToValidUTF8(string(output[:min(room, len(output))]), "") + "\n\n"
		return
	}
	r.addValue("", v)
}

// addValue takes over a value of an output. Dates are added in words as well, since answers write them so.
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

// sortedKeys makes what is kept of an object the same each time: maps have no order.
func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// allText is all of it.
func (r *ToolResults) allText() string { return strings.Join(r.prose, "\n\n") + "\n\n" + r.Facts }

// isReturned reports whether a sentence says what tools returned: what another server's tool says, the result of a
// calculation in words of the question or of a passage, or something of the library's list about a document that it
// names. Words alone don't prove a list or a sum: numbers must be there too, see Judge.States.
func (e *Evidence) isReturned(said string, by WordMatcher) bool {
	if slices.ContainsFunc(e.Results.prose, func(p string) bool { return by(said, MetaWords, p) }) {
		return true
	}
	return e.IsResult(said) || e.isListed(said)
}

// ResemblesTools reports whether a sentence may be a paraphrase of what tools returned.
func (e *Evidence) ResemblesTools(said string) bool {
	return e.isReturned(said, e.citer.Judge.Resembles)
}

// IsResult reports whether a sentence gives the result of a calculation in the words of the question, the operation and
// the passages that it was made from.
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

// isTotal reports whether a text with footnotes says what was computed of the rows behind them: each is a row of a
// table, and each number is a result, or stands in the question or in one of these rows. It is what lets “the sum is
// 4,500 [1][2]” stand although no row says 4,500.
func (e *Evidence) isTotal(said string, numbers []int) bool {
	known := e.question + "\n" + e.Results.sums
	for _, n := range numbers {
		src, ok := e.sourceOf(n)
		if !ok || !src.Passage.Part {
			return false
		}
		known += "\n" + src.Passage.Text
	}
	there := Numeral.FindAllString(known, -1)
	said = e.withResults(said)
	return len(numbers) > 0 && e.hasResult(said) && !slices.ContainsFunc(
		Numeral.FindAllString(said, -1), func(n string) bool { return !slices.Contains(there, n) },
	) && e.IsResult(said)
}

// isListed reports whether a sentence says what the library's list holds. A title counts only as a whole: its words
// alone may say anything.
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
		named && !negation.MatchString(rest) && !e.citer.Judge.HasOwnWords(rest, about, e.Results.Facts)
}

// cutTitle returns a sentence without a title, in whatever case, and whether it had it.
func cutTitle(said, title string) (rest string, found bool) {
	at := strings.Index(strings.ToLower(said), strings.ToLower(title))
	if title == "" || at < 0 || at+len(title) > len(said) {
		return said, false
	}
	return said[:at] + " " + said[at+len(title):], true
}

// hasResult reports whether a sentence has a number that was calculated and that the question does not have.
func (e *Evidence) hasResult(said string) bool {
	results, asked := Numeral.FindAllString(e.Results.sums, -1), Numeral.FindAllString(e.question, -1)
	return slices.ContainsFunc(Numeral.FindAllString(said, -1), func(n string) bool {
		return slices.Contains(results, n) && !slices.Contains(asked, n)
	})
}

// FactualClaims are the sentences of an answer that state something. Where there are none, what stands in its
// headings and its code states it.
func (e *Evidence) FactualClaims(markdown string) []Claim {
	if out := e.factualStatements(markdown); len(out) > 0 {
		return out
	}
	return allLines(markdown)
}

// factualStatements are the sentences of an answer that state something.
func (e *Evidence) factualStatements(markdown string) []Claim {
	var out []Claim
	for _, c := range e.ClaimsOf(markdown) {
		if IsFactualClaim(c.Text) && !e.confirmsLog(c.Text) {
			out = append(out, c)
		}
	}
	return out
}

// allLines are what may state something in an answer without a sentence that does.
func allLines(markdown string) []Claim { return linesOf(markdown, codeLine, headingLine, rowLine) }

// linesOf are the blocks of some kinds that have content words, as claims.
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
