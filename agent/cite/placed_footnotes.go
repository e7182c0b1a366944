package cite

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// minHeld is the share of a sentence's weight that a sentence of a passage holds that the program puts behind it. It is
// the same scale as Judge.Quote's score, a share of the sentence's weight in words.
const minHeld = 0.7

// minHeldWords is the same share of a sentence's words without its numbers, in the same sentence of the passage. A
// number weighs three words, so a shared one alone would come to minHeld.
const minHeldWords = 0.5

// underTable is the line below the names of a table's columns.
var underTable = regexp.MustCompile(`^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$`)

// WithPlacedFootnotes returns an answer with the number of a passage behind each sentence that it bears out, instead of
// what footnotes there were; how many sentences have one, and how many state something at all. Headings and code have
// none. It is for models that write right sentences and no, or wrong, numbers.
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
		// its last line is the head of a table
		if i+1 < len(all) && underTable.MatchString(strings.TrimRight(all[i+1].text, "\r\n")) {
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

// footnoteParagraph places footnotes in one paragraph, list item or row of a table, and counts the sentences that got
// one and those that state something.
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

// bestPassage is the number of the passage shown in this run that bears a sentence out in the nearest words; 0 if none
// does. No model says that they belong together, so one sentence of the passage has to hold most of what is said.
// Passages are compared in the order of their numbers, so the first of equals stays.
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
		_, _, inWords := e.citer.Judge.Quote(held, writtenNumber.ReplaceAllString(said, " "))
		if inWords >= minHeldWords {
			best, most = src.N, score
		}
	}
	return best
}
