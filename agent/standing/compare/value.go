package compare

import (
	"strings"
	"unicode"
)

const (
	longestLead  = 90 // runes that are shown before a difference
	longestValue = 80 // runes of a difference that are shown in a sentence
)

// value returns the old and new value if each side has one differing stretch that starts at the same word: "The
// notice period is 3 months" and "6 months". Both are substrings of the texts. A number includes its unit, the next
// word, if both sides have it. ok is false if a stretch is too long; the whole sentence is then shown.
func (a aligned) value(before, after []rune) (was, now string, ok bool) {
	b, c := stretches(a.keptB), stretches(a.keptA)
	if len(b) != 1 || len(c) != 1 || b[0][0] != c[0][0] {
		return "", "", false
	}
	endB, endA := b[0][1], c[0][1]
	if a.before[endB-1].number && a.after[endA-1].number && endB < len(a.before) && endA < len(a.after) &&
		besides(before, a.before[endB-1], a.before[endB]) && besides(after, a.after[endA-1], a.after[endA]) {
		endB, endA = endB+1, endA+1
	}
	stop, begin := a.before[endB-1].end, a.after[c[0][0]].start
	from := leadFrom(before, a.before[b[0][0]].start)
	was, now = string(before[from:stop]), string(after[begin:a.after[endA-1].end])
	if len([]rune(now)) > longestValue || stop-a.before[b[0][0]].start > longestValue {
		return "", "", false
	}
	return was, now, true
}

// besides reports whether two words are adjacent or separated by one space.
func besides(text []rune, w, next word) bool {
	return next.start == w.end || next.start == w.end+1 && unicode.IsSpace(text[w.end])
}

// leadFrom returns the start of the words that are shown before an offset: the text's start, or a word within
// longestLead.
func leadFrom(text []rune, at int) int {
	if at <= longestLead {
		return 0
	}
	from := at - longestLead
	for from < at && !unicode.IsSpace(text[from]) {
		from++
	}
	for from < at && unicode.IsSpace(text[from]) {
		from++
	}
	return from
}

// forms normalises a text to its words.
func forms(text string) string {
	list := words([]rune(text))
	parts := make([]string, len(list))
	for i, w := range list {
		parts[i] = w.form
	}
	return strings.Join(parts, " ")
}
