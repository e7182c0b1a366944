package cite

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/chat"
)

// reading is the normalised text of an answer, rune by rune, without white space, the bars of tables and footnotes.
// Comparing readings ignores white space, line breaks and Markdown syntax.
type reading struct {
	runes     []rune
	begins    []int       // offset of each paragraph in runes
	footnotes []footnotes // in order
}

// footnotes are the footnotes at one offset of an answer.
type footnotes struct {
	paragraph, at int
	marks         []mark
}

// barrier separates paragraphs that no quotation can span: headings and code.
const barrier = '\x00'

// readAnswer normalises the paragraphs of an answer to a reading.
func readAnswer(paragraphs []paragraph) reading {
	var r reading
	for i, p := range paragraphs {
		r.begins = append(r.begins, len(r.runes))
		if p.kind == codeLine || p.kind == headingLine {
			r.runes = append(r.runes, barrier)
			continue
		}
		plain, marks := liftFootnotes(p.text)
		runes, done := []rune(plain), 0
		for _, m := range marks {
			r.runes, done = append(r.runes, level(readEscapes(string(runes[done:m.at])))...), m.at
			if last := len(r.footnotes) - 1; last >= 0 && r.footnotes[last].at == len(r.runes) {
				r.footnotes[last].marks = append(r.footnotes[last].marks, m)
				continue
			}
			r.footnotes = append(r.footnotes, footnotes{i, len(r.runes), []mark{m}})
		}
		r.runes = append(r.runes, level(readEscapes(string(runes[done:])))...)
	}
	return r
}

// level normalises a text for a reading. It strips the marks of quoted mail at line starts, which the page renders.
func level(s string) []rune {
	var out []rune
	for line := range strings.Lines(s) {
		for _, c := range strings.TrimLeft(line, "> ") {
			if !unicode.IsSpace(c) && c != '|' {
				out = append(out, c)
			}
		}
	}
	return out
}

// span is the range of a quotation in a reading.
type span struct {
	start, end int // runes
	footnotes  footnotes
	words      string // on one line
}

// quotedIn returns, by paragraph, the claims that are only the verbatim quotes of their footnotes. A quotation is
// one claim in the paragraph where it ends; earlier paragraphs that it spans are mapped to no claims. Other
// paragraphs are not in the map.
func quotedIn(paragraphs []paragraph, citations []chat.Citation) map[int][]Claim {
	if len(citations) == 0 {
		return nil
	}
	r := readAnswer(paragraphs)
	out := map[int][]Claim{}
	for _, s := range r.tiles(citations) {
		first, _ := slices.BinarySearch(r.begins, s.start)
		for i := first; i < s.footnotes.paragraph; i++ {
			if _, known := out[i]; !known {
				out[i] = nil
			}
		}
		out[s.footnotes.paragraph] = append(out[s.footnotes.paragraph],
			Claim{Text: s.words, Numbers: numbersOf(s.footnotes.marks), isQuote: true})
	}
	return out
}

// tiles returns the quotations of an answer: the words before a footnote that are its whole quote. They must start
// at a paragraph or after another quotation's footnote, and end at the paragraph's end or before another quotation.
// A forward pass finds the quotes, and a backward pass removes those with other text after them, since quotes may be
// chained.
func (r reading) tiles(citations []chat.Citation) []span {
	var found []span
	for _, f := range r.footnotes {
		for _, m := range f.marks {
			n := m.number
			if n < 1 || n > len(citations) || citations[n-1].Check != chat.CheckVerified {
				continue
			}
			quote := level(citations[n-1].Quote)
			start := f.at - len(quote)
			if len(quote) > 0 && start >= 0 && slices.Equal(r.runes[start:f.at], quote) &&
				(slices.Contains(r.begins, start) || len(found) > 0 && found[len(found)-1].end == start) {
				words := strings.Join(strings.Fields(citations[n-1].Quote), " ")
				found = append(found, span{start, f.at, f, words})
				break
			}
		}
	}
	var out []span
	for _, s := range slices.Backward(found) {
		if r.endsParagraph(s) || len(out) > 0 && out[len(out)-1].start == s.end {
			out = append(out, s)
		}
	}
	slices.Reverse(out)
	return out
}

// endsParagraph reports whether a quotation ends its paragraph.
func (r reading) endsParagraph(s span) bool {
	next := s.footnotes.paragraph + 1
	return next < len(r.begins) && s.end == r.begins[next] || next == len(r.begins) && s.end == len(r.runes)
}
