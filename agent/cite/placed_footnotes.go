package cite

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text/lazy"
)

// minHeld is the minimum share of a sentence's weight that a sentence of a passage must contain for the program to
// cite it. The scale is that of Judge.Quote's score, a share of the sentence's weight in words.
const minHeld = 0.7

// minHeldWords is the same share without the sentence's numbers, in the same sentence of the passage. A number
// weighs three words, so a shared number alone could reach minHeld.
const minHeldWords = 0.5

// underTable matches the line below a table's header.
var underTable = lazy.Regexp(`^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$`)

// WithPlacedFootnotes replaces the footnotes of an answer by markers of the passages that support its sentences. It
// returns the number of sentences with a marker and of all factual ones. Headings and code get none. It is for
// models that write correct sentences with missing or wrong numbers.
func (e *Evidence) WithPlacedFootnotes(answer string) (marked string, placed, stated int) {
	var b strings.Builder
	put := func(piece string) {
		text := strings.TrimRight(piece, "\r\n")
		said, p, s := e.footnoteParagraph(text)
		b.WriteString(said + piece[len(text):])
		placed, stated = placed+p, stated+s
	}
	all := splitBlocks(answer)
	for i, piece := range all {
		text, head := piece.text, ""
		// its last line is the header of a table
		if i+1 < len(all) && underTable().MatchString(strings.TrimRight(all[i+1].text, "\r\n")) {
			cut := strings.LastIndexByte(strings.TrimRight(text, "\r\n"), '\n') + 1
			text, head = text[:cut], text[cut:]
		}
		switch piece.kind {
		case textLine, itemLine, rowLine:
			put(text)
		default:
			b.WriteString(text)
		}
		b.WriteString(head)
	}
	return b.String(), placed, stated
}

// footnoteParagraph places footnotes in one paragraph, list item or table row, and counts the sentences with a
// footnote and the factual ones.
func (e *Evidence) footnoteParagraph(piece string) (marked string, placed, stated int) {
	plain, _ := liftFootnotes(piece)
	runes := []rune(plain)
	spans := sentenceSpans(plain)
	if strings.HasPrefix(strings.TrimSpace(plain), "|") {
		spans = [][2]int{{0, len(runes)}}
	}
	var b strings.Builder
	done := 0
	for _, span := range spans {
		sentence := string(runes[span[0]:span[1]])
		said := strings.TrimLeft(strings.Join(strings.Fields(strings.ReplaceAll(sentence, "|", " ")), " "), "#-*>+ ")
		if !IsFactualClaim(said) {
			continue
		}
		stated++
		n := e.bestPassage(said)
		if n == 0 {
			continue
		}
		placed++
		at := span[0] + len([]rune(
			strings.TrimRightFunc(sentence, func(r rune) bool { return isStop(r) || r == '|' || unicode.IsSpace(r) }),
		))
		b.WriteString(string(runes[done:at]) + " [" + strconv.Itoa(n) + "]")
		done = at
	}
	return b.String() + string(runes[done:]), placed, stated
}

// bestPassage returns the number of the retrieved passage that supports a sentence in the closest words; 0 if none
// does. No model cited the passage, so one sentence of it must contain most of the claim. Of equal passages the
// lowest number wins.
func (e *Evidence) bestPassage(said string) int {
	said = e.withoutReferences(said)
	if CountContentWords(said) < minPart {
		return 0
	}
	about := e.aboutTools()
	best, most := 0, 0.0
	for _, src := range e.sources.All() {
		if !e.citer.Judge.Resembles(said, about+aboutSource(src), src.Passage.Text) {
			continue
		}
		start, end, score := e.citer.Judge.Quote(src.Passage.Text, said)
		if score < minHeld || score <= most {
			continue
		}
		held := string([]rune(src.Passage.Text)[start:end])
		_, _, inWords := e.citer.Judge.Quote(held, writtenNumber().ReplaceAllString(said, " "))
		if inWords >= minHeldWords {
			best, most = src.N, score
		}
	}
	return best
}
