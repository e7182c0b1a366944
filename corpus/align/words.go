// Package align finds the words of one text in another that says the same in another order, with other words between.
//
// Words are compared by their forms alone, so that punctuation, capitals and ways to write a letter make no difference.
// It knows no documents and no pages, and is a leaf.
package align

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Word is a run of letters and digits. End is behind its last rune.
type Word struct {
	Start, End int    // rune offsets in its text
	Form       string // in small letters, NFKC
}

// Words returns the words of a text. Each letter of a script without spaces is one. Marks and soft hyphens inside a
// word belong to it.
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

// formOf returns the form by which a word is compared: compatibility forms replaced (NFKC), in small letters, without
// format characters.
func formOf(word []rune) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(string(word)))
}
