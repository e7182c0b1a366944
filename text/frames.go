package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// frameRunes is the maximum length of a line that only frames a text.
const frameRunes = 80

// Frames reports whether a line only frames a text, by its form: a salutation, the closing of a letter, a
// signature, a title. Such a line begins with a capital letter, has no digit and no colon, and lacks final
// punctuation. This works in any language, without a list of salutations.
func Frames(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsUpper(first) && utf8.RuneCountInString(line) <= frameRunes && !EndsSentence(line) &&
		!statesSomething(line)
}

// statesSomething reports whether a line has a digit, a colon or a semicolon, unlike a title.
func statesSomething(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsDigit(r) || r == ':' || r == ';' })
}

// EndsSentence reports whether a text ends with a sentence terminator, ignoring quotation marks and brackets after
// it. Unicode's property Sentence_Terminal defines the terminators of each script.
func EndsSentence(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool {
		return r == '"' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Z)
	})
	last, _ := utf8.DecodeLastRuneInString(s)
	return unicode.Is(unicode.STerm, last)
}

// InCapitals reports whether a line is a title in capitals: after an optional number it has capital letters, no
// small ones and no digits, and no final punctuation. This has no meaning in a text of only capitals: see
// MostlySmall.
func InCapitals(line string) bool {
	title := strings.TrimLeft(line, "0123456789.) ")
	capitals, small := letterCases(title)
	return capitals > 1 && small == 0 && utf8.RuneCountInString(line) <= frameRunes && !EndsSentence(line) &&
		!statesSomething(title)
}

// MostlySmall reports whether a text has more lower-case than capital letters.
func MostlySmall(s string) bool {
	capitals, small := letterCases(s)
	return small > capitals
}

// letterCases counts capital and lower-case letters; a script without cases has neither.
func letterCases(s string) (capitals, small int) {
	for _, r := range s {
		switch {
		case unicode.IsUpper(r):
			capitals++
		case unicode.IsLower(r):
			small++
		}
	}
	return capitals, small
}
