package search

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
)

// snippetRunes is the maximum length of a snippet, about three lines of a list.
const snippetRunes = 260

// Snippet is the best matching part of a passage, for display.
type Snippet struct {
	Text    string
	Matches [][2]int // rune ranges in Text

	Start, End int // rune offsets in the passage: the shortest text with all the best words
	Words      int // number of distinct query words in the passage
}

// Snip returns the part of a passage with the most query words, and marks in seen all query words of the passage.
// Without a match it returns the beginning. The bit mask of words wraps around at 64, the maximum of QueryWords.
func Snip(a *text.Analyser, passage string, words []text.Word, seen map[string]bool) Snippet {
	// A word may have several terms, such as stems in several languages; each counts as the word.
	of := make(map[string]int) // term → word
	for i, w := range words {
		for _, t := range w.Terms {
			of[t] = i
		}
	}
	type match struct{ start, end, word int }
	var found []match
	held := make(map[int]bool)
	spans := append(a.Spans(passage), text.Identifiers(passage)...)
	slices.SortStableFunc(spans, func(a, b text.Span) int { return a.Start - b.Start })
	for _, s := range spans {
		if w, ok := of[s.Term]; ok {
			found = append(found, match{s.Start, s.End, w})
			seen[words[w].Text], held[w] = true, true
		}
	}
	// Find the window with the most distinct words that starts at a match; the first of equals.
	runes := []rune(passage)
	from, most, best := 0, 0, [2]int{}
	for i, m := range found {
		var has uint64 // a bit for each word
		last := i      // the match that added the last new word
		for j, n := range found[i:] {
			// Reserve a quarter of the snippet for context around the matches.
			if n.end > m.start+snippetRunes*3/4 {
				break
			}
			if bit := uint64(1) << (n.word % 64); has&bit == 0 {
				has, last = has|bit, i+j
			}
		}
		n := bits.OnesCount64(has)
		if n <= most {
			continue
		}
		from, most = m.start, n
		// Going back from the last new word, the nearest match of each word gives the shortest text.
		for at, left := last, has; left != 0; at-- { // back to the nearest of each of the others
			left &^= 1 << (found[at].word % 64)
			best = [2]int{found[at].start, found[last].end}
		}
	}
	from = snippetStart(runes, from)
	to := min(len(runes), from+snippetRunes)
	if to < len(runes) {
		// A word is cut only if there is no space within 40 runes, as in a script without spaces.
		for back := to; back > to-40; back-- {
			if unicode.IsSpace(runes[back]) {
				to = back
				break
			}
		}
	}
	for to > from && unicode.IsSpace(runes[to-1]) {
		to--
	}
	var b strings.Builder
	// The prefix "… " shifts the matches by two runes.
	shift := -from
	if from > 0 {
		b.WriteString("… ")
		shift += 2
	}
	for _, r := range runes[from:to] {
		if unicode.IsSpace(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	if to < len(runes) {
		b.WriteString(" …")
	}
	s := Snippet{Text: b.String(), Start: best[0], End: max(best[1], min(1, len(runes))), Words: len(held)}
	for _, m := range found {
		if m.start < from || m.end > to {
			continue
		}
		start, end := m.start+shift, m.end+shift
		if n := len(s.Matches); n > 0 && s.Matches[n-1][1] >= start { // bigrams overlap
			s.Matches[n-1][1] = max(s.Matches[n-1][1], end)
			continue
		}
		s.Matches = append(s.Matches, [2]int{start, end})
	}
	return s
}

// snippetStart returns the start of a snippet that must include runes[at]: the sentence if it begins within a
// quarter of a snippet, else a word.
func snippetStart(runes []rune, at int) int {
	if at <= snippetRunes/8 {
		return 0
	}
	near := at
	for i := at; i > at-snippetRunes/4 && i > 0; i-- {
		before := runes[i-1]
		if before == '\n' || i > 1 && unicode.IsSpace(before) && strings.ContainsRune(".!?", runes[i-2]) ||
			strings.ContainsRune("。！？", before) {
			return i
		}
		if unicode.IsSpace(before) && i > at-snippetRunes/6 {
			near = i
		}
	}
	return near
}
