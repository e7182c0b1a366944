package offline

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// unit is a sentence, a list item, a table row or some indented lines in a passage: the smallest quotable text.
type unit struct {
	source     int // index in the pool
	start, end int // rune offsets in the passage
	text       string
	terms      map[string]bool
	sequence   []string // its terms in order
	names      bool     // a heading, a question or a line of a table of contents, without a statement
	frame      bool     // it frames the text: see markFrames
	heading    int      // index of the nearest heading before it in its passage; -1: none
	row        *row     // of a table; nil: not a row
}

// pool holds all search results and readings, split into units. Units are in the order of sources and of the text,
// so that neighbours in the list are neighbours in the passage if their source is the same. All ranges are in runes.
type pool struct {
	sources []source
	runes   [][]rune // of each source
	around  []map[string]bool
	units   []unit
	langs   []string
	said    string // all terms in order, separated by spaces, one line for each unit

	foreign []string // each source's language if it differs from the question's, from compareLanguages
}

const (
	shortest = 8    // minimum runes of a quotable unit
	longest  = 1200 // maximum runes
)

// newPool splits passages into units. Each passage is analysed in its language, with one analyser for each language.
// Tables are split first, and the prose between them into statements. Frames are marked after all units of a passage
// are known.
func newPool(sources []source) pool {
	p := pool{sources: sources}
	var said strings.Builder
	analysers := map[string]*text.Analyser{}
	for i, src := range sources {
		lang := text.Detect(src.Text)
		if analysers[lang] == nil {
			analysers[lang] = text.NewAnalyser(lang)
			if lang != "" {
				p.langs = append(p.langs, lang)
			}
		}
		a, runes, heading := analysers[lang], []rune(src.Text), -1
		began := len(p.units)
		directory, small := text.Directory(src.Text), text.MostlySmall(src.Text)
		prose := func(from, to int) {
			for _, span := range withLabels(runes[from:to], text.Statements(string(runes[from:to]), quoteLength)) {
				u := unit{source: i, start: from + span[0], end: from + span[1], heading: heading}
				u.text = string(runes[u.start:u.end])
				u.sequence = a.Terms(u.text)
				u.terms = withIdentifiers(setOf(u.sequence), u.text)
				u.names = directory || names(u.text, src) || small && text.InCapitals(u.text)
				if u.names && !directory && !text.Leader(u.text) {
					heading = len(p.units)
				}
				p.units = append(p.units, u)
			}
		}
		// The text between two tables is prose.
		done := 0
		for _, rows := range tables(runes, src.Section) {
			prose(done, rows[0][0])
			p.addTable(i, rows, heading, a)
			done = rows[len(rows)-1][1]
		}
		prose(done, len(runes))
		p.runes = append(p.runes, runes)
		p.markFrames(p.units[began:])
		// The context of every unit of a passage: its section and its document's names.
		around := a.Terms(src.Section + " " + src.document.Title + " " + plainName(src.document.Filename))
		p.around = append(p.around, setOf(around))
		said.WriteString(" " + strings.Join(around, " ") + " \n")
	}
	for _, u := range p.units {
		said.WriteString(" " + strings.Join(u.sequence, " ") + " \n")
	}
	p.said = said.String()
	return p
}

// labelWords is the maximum number of words of a label: a day in a diary, “Rule 3.”
const labelWords = 2

// withLabels joins a label of a few words to the next sentence of its block, since it is the sentence's subject and
// no statement alone.
func withLabels(runes []rune, spans [][2]int) [][2]int {
	var out [][2]int
	label := false // the last span is a label
	for _, span := range spans {
		if n := len(out); label && blankLines(runes[out[n-1][1]:span[0]]) == 0 {
			out[n-1][1] = span[1]
		} else {
			out = append(out, span)
		}
		last := out[len(out)-1]
		said := string(runes[span[0]:span[1]])
		label = last == span && countWords(said) <= labelWords && !strings.HasSuffix(said, ",") // of a salutation
	}
	return out
}

// countWords returns the number of words. In a script without spaces two characters count as one word.
func countWords(s string) int {
	n := len(strings.Fields(s))
	for _, run := range text.Runs(s) {
		n += (len(run.Runes) - 1) / 2
	}
	return n
}

// blankLines returns the number of blank lines in the text between two sentences.
func blankLines(between []rune) int {
	breaks := 0
	for _, r := range between {
		if r == '\n' {
			breaks++
		}
	}
	return max(0, breaks-1)
}

// setOf returns terms as a set.
func setOf(terms []string) map[string]bool {
	set := make(map[string]bool, len(terms))
	for _, term := range terms {
		set[term] = true
	}
	return set
}

// has returns how well a unit matches a word, 0–1: by its text or, as a row, by the head of a filled column.
func (u unit) has(w word) float64 {
	if u.row != nil {
		return max(w.in(u.terms), u.row.named(w))
	}
	return w.in(u.terms)
}

// withIdentifiers adds the identifiers of a text to its terms.
func withIdentifiers(terms map[string]bool, s string) map[string]bool {
	for _, id := range text.Identifiers(s) {
		terms[id.Term] = true
	}
	return terms
}

// vocabulary returns all terms that a word of the question may match: those of units, of column heads, and of the
// passages' context.
func (p pool) vocabulary() map[string]bool {
	all := map[string]bool{}
	for _, u := range p.units {
		maps.Copy(all, u.terms)
		if u.row != nil {
			for _, name := range u.row.table.has {
				maps.Copy(all, name)
			}
		}
	}
	for _, around := range p.around {
		maps.Copy(all, around)
	}
	return all
}

// termsOf returns the terms of a document: of its units, sections and names.
func (p pool) termsOf(document string) map[string]bool {
	all := map[string]bool{}
	for i, around := range p.around {
		if p.sources[i].document.DocID == document {
			maps.Copy(all, around)
		}
	}
	for _, u := range p.units {
		if p.sources[u.source].document.DocID == document {
			maps.Copy(all, u.terms)
		}
	}
	return all
}

// names reports whether a line has no statement: a heading, a question, the title of its document or section, a line
// of a table of contents. It may be eight bytes longer than the title, for a number or sign.
func names(line string, src source) bool {
	line = strings.Join(strings.Fields(line), " ")
	last, _ := utf8.DecodeLastRuneInString(line)
	switch {
	case line == "" || text.Leader(line) || strings.HasPrefix(line, "#") || strings.ContainsRune("?？", last):
		return true
	case strings.EqualFold(line, src.document.Title) || strings.EqualFold(line, src.document.Filename):
		return true
	}
	return slices.ContainsFunc(strings.Split(src.Section, "›"), func(part string) bool {
		part = strings.TrimSpace(part)
		return part != "" && len(line) <= len(part)+8 && strings.HasSuffix(strings.ToLower(line), strings.ToLower(part))
	})
}

// quotable reports whether a unit can be quoted: a statement with letters, of a readable length. A row is quotable
// at any length, since its head explains its numbers.
func (u unit) quotable() bool {
	if u.row != nil { // its head explains its numbers
		return !u.names && len(u.terms) > 0
	}
	n := u.end - u.start
	return !u.names && !u.frame && n >= shortest && n <= longest && strings.ContainsFunc(u.text, unicode.IsLetter)
}

// isNested reports whether a unit has indented lines below its first: it is quoted alone.
func isNested(s string) bool { return strings.Contains(s, "\n ") || strings.Contains(s, "\n\t") }

// plainName returns the words of a file name.
func plainName(file string) string {
	return strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(file)
}
