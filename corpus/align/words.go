// Package align aligns the words of two texts with the same content in another order, with other words in between.
//
// Words are compared by their normalised forms, ignoring punctuation, case and spelling variants of letters. The
// package knows no documents and pages, and is a leaf.
package align

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Word is a run of letters and digits. End is after its last rune.
type Word struct {
	Start, End int    // rune offsets in its text
	Form       string // lower case, NFKC
}

// Words returns the words of a text. Each letter of a script without spaces is a word. Combining marks and soft
// hyphens inside a word belong to it.
func Words(text []rune) (words []Word) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			words = append(words, Word{start, at, formOf(text[start:at])})
		}
		start = -1
	}
	for i, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			end(i)
			start = i
			end(i + 1)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if start < 0 {
				start = i
			}
		case start >= 0 && (unicode.IsMark(r) || unicode.Is(unicode.Cf, r)): // an accent, a soft hyphen
		default:
			end(i)
		}
	}
	end(len(text))
	return words
}

// formOf normalises a word for comparison: NFKC, lower case, without format characters.
func formOf(word []rune) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(string(word)))
}
