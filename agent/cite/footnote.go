package cite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Footnote matches the format in which the writer writes footnotes: [3]. It is a footnote only in running text.
var Footnote = lazy.Regexp(`\[\d{1,3}\]`)

// footnotesIn parses a block for footnotes and returns their byte ranges. Code, formulas, addresses and links
// contain none. A bracket before “(” is a link. The spans are sorted, so one pass suffices.
func footnotesIn(s string) [][]int {
	var out [][]int
	spans := withFormulas(s, codeSpans(s))
	for _, at := range Footnote().FindAllStringIndex(s, -1) {
		for len(spans) > 0 && spans[0][1] <= at[0] {
			spans = spans[1:]
		}
		if len(spans) > 0 && spans[0][0] < at[0] || strings.HasPrefix(s[at[1]:], "(") || !text.IsRunning(s[:at[0]]) {
			continue
		}
		out = append(out, at)
	}
	return out
}

// withFormulas adds the formulas of a block to its code spans.
func withFormulas(s string, spans [][2]int) [][2]int {
	for _, f := range text.Formulas(s, spans) {
		spans = append(spans, [2]int{f.Start, f.End})
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	return spans
}

// liftFootnotes removes the footnotes, and the spaces before them, from a text, which is one block. It returns their
// offsets in the remaining text, so that each can be restored or assigned to its sentence. If a footnote separated
// two words, a space replaces it.
func liftFootnotes(s string) (plain string, marks []mark) {
	var b strings.Builder
	runes, done := 0, 0
	put := func(piece string) {
		b.WriteString(piece)
		runes += len([]rune(piece))
	}
	for _, at := range footnotesIn(s) {
		put(strings.TrimRight(s[done:at[0]], " \t\n"))
		n, _ := strconv.Atoi(s[at[0]+1 : at[1]-1])
		marks = append(marks, mark{runes, n})
		if done = at[1]; done < len(s) && isWordRune([]rune(s[done:])[0]) {
			put(" ")
		}
	}
	put(s[done:])
	return b.String(), marks
}
