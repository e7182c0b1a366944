package cite

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/chat"
)

// reading is an answer rune by rune as it reads, without white space, the bars of tables and footnotes: two texts with
// the same reading say the same in the same words, however they are set. Comparing readings makes white space, line
// breaks and the marks of Markdown no difference.
type reading struct {
	runes     []rune
	begins    []int       // where paragraphs begin in runes, by paragraph
	footnotes []footnotes // in order
}

// footnotes are those of an answer that stand at one place.
type footnotes struct {
	paragraph, at int
	marks         []mark
}

// barrier stands between paragraphs that no quotation reaches over: headings and code.
const barrier = '\x00'

// readAnswer reads the paragraphs of an answer.
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

// level is a text as a reading has it. Marks of quoted mail begin its lines on the page too, where they are drawn.
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

// span is a quotation in a reading.
type span struct {
	start, end int // runes
	footnotes  footnotes
	words      string // in one line
}

// quotedIn returns the claims of paragraphs that are nothing but what their footnotes quote, word for word. A quotation
// is one claim, of the paragraph that it ends in; paragraphs that it only reaches over have none. Others are not in the
// map.
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

// tiles returns the quotations of an answer: the words before a footnote that are all of its quote, where a paragraph
// or another quotation's footnote stands before them, and the paragraph's end or another quotation behind. It goes
// forward to find words that are a quote and back to see that nothing stands behind them: quotes may be chained, and
// one that something follows breaks the chain.
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

// endsParagraph reports whether nothing of its paragraph is behind a quotation.
func (r reading) endsParagraph(s span) bool {
	next := s.footnotes.paragraph + 1
	return next < len(r.begins) && s.end == r.begins[next] || next == len(r.begins) && s.end == len(r.runes)
}
