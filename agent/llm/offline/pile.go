package offline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// unit is a sentence, a list item, a row of a table or some indented lines in a passage: the least that can be quoted.
type unit struct {
	source     int // of the pile
	start, end int // runes in the passage
	text       string
	terms      map[string]bool
	sequence   []string // its terms in order
	names      bool     // it is a heading, a question or a line of a table of contents: it names what is said elsewhere
	frame      bool     // it only frames the text: see markFrames
	heading    int      // the nearest unit before it in its passage that names what follows; -1: none
	row        *row     // of a table; nil: it is none
}

// pile is everything that was found and read, cut into units. Units stand in the order of sources and of the text, so
// that neighbours in the list are neighbours in the passage where their source is the same. All ranges are in runes.
type pile struct {
	sources []source
	runes   [][]rune // of each source
	around  []map[string]bool
	units   []unit
	going   []*table // those that began in another passage: their heads are no units
	langs   []string
	said    string // all terms in their order, between spaces, a line for each unit

	// of compareLanguages: of each source the language of its document, if that is not the question's, and the terms
	// that documents have in each of these languages
	foreign []string
	told    map[string]map[string]bool
}

const (
	shortest = 8    // runes of a unit that may be quoted
	longest  = 1200 // runes of the longest that may
)

// pileOf cuts passages into units. Each is analysed in its own language, by one analyser for each language. Tables are
// cut first, and the prose between them into statements; frames are marked when all units of a passage are there.
func pileOf(sources []source) pile {
	p := pile{sources: sources}
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
				u.terms = setOf(u.sequence)
				u.names = directory || names(u.text, src) || small && text.InCapitals(u.text)
				if u.names && !directory && !text.Leader(u.text) {
					heading = len(p.units)
				}
				p.units = append(p.units, u)
			}
		}
		// Prose and tables take turns: what stands between two tables is cut into statements.
		done := 0
		for _, rows := range tables(runes, src.Section) {
			prose(done, rows[0][0])
			p.addTable(i, rows, heading, a)
			done = rows[len(rows)-1][1]
		}
		prose(done, len(runes))
		p.runes = append(p.runes, runes)
		p.markFrames(p.units[began:])
		// A passage's section and its document's names stand around every unit of it.
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

// labelWords is how many words a label has at most: a day in a diary, “Rule 3.”
const labelWords = 2

// withLabels joins a piece of a few words to the sentence that it stands before in one block: it says what the
// sentence is about, and nothing by itself.
func withLabels(runes []rune, spans [][2]int) [][2]int {
	var out [][2]int
	label := false // the last span is one
	for _, span := range spans {
		if n := len(out); label && blankLines(runes[out[n-1][1]:span[0]]) == 0 {
			out[n-1][1] = span[1]
		} else {
			out = append(out, span)
		}
		last := out[len(out)-1]
		said := string(runes[span[0]:span[1]])
		label = last == span && countWords(said) <= labelWords && !strings.HasSuffix(said, ",") // a salutation's
	}
	return out
}

// countWords is how many words a piece has. Of a script without spaces two signs are about one.
func countWords(s string) int {
	n := len(strings.Fields(s))
	for _, run := range text.Runs(s) {
		n += (len(run.Runes) - 1) / 2
	}
	return n
}

// blankLines is how many blank lines there are in what stands between two sentences.
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

// has returns how well a unit has a word: itself or, as a row, the head of a column that it has something in.
func (u unit) has(w word) float64 {
	if u.row != nil {
		return max(w.in(u.terms), u.row.named(w))
	}
	return w.in(u.terms)
}

// vocabulary is every term that a word of the question can stand for: those of units, of the heads of columns, and of
// what stands around passages.
func (p pile) vocabulary() map[string]bool {
	all := map[string]bool{}
	for _, u := range p.units {
		for term := range u.terms {
			all[term] = true
		}
		if u.row != nil {
			for _, set := range u.row.table.has {
				for term := range set {
					all[term] = true
				}
			}
		}
	}
	for _, set := range p.around {
		for term := range set {
			all[term] = true
		}
	}
	return all
}

// names reports whether a line states nothing but names what is said elsewhere: a heading, a question, the title of its
// document or section, a line of a table of contents. Eight bytes more than the title are let pass for its number or
// sign.
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

// quotable reports whether a unit can stand in an answer: it states something, with letters, at a length to read. A row
// is quotable at any length: its head says what its numbers are.
func (u unit) quotable() bool {
	if u.row != nil { // its head says what its numbers are
		return !u.names && len(u.terms) > 0
	}
	n := u.end - u.start
	return !u.names && !u.frame && n >= shortest && n <= longest && strings.ContainsFunc(u.text, unicode.IsLetter)
}

// isNested reports whether the text of a unit is lines with others indented below them: they stand by themselves.
func isNested(s string) bool { return strings.Contains(s, "\n ") || strings.Contains(s, "\n\t") }

// plainName returns the words of a file name.
func plainName(file string) string {
	return strings.NewReplacer("_", " ", "-", " ", ".", " ").Replace(file)
}
