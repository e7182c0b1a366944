package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// frameRunes is the longest line that only frames a text.
const frameRunes = 80

// Frames reports whether a line by itself only frames a text, by its form: a salutation, the closing of a letter, a
// name below it, a title. Such a line begins with a capital letter, has no figure and no colon, and does not end as a
// sentence does. No list of salutations is needed for that, in any language.
func Frames(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	return unicode.IsUpper(first) && utf8.RuneCountInString(line) <= frameRunes && !EndsSentence(line) &&
		!statesSomething(line)
}

// statesSomething reports whether a line has what a title has not: a figure, or a mark behind which something is said.
func statesSomething(line string) bool {
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsDigit(r) || r == ':' || r == ';' })
}

// EndsSentence reports whether a text ends as a sentence does, quotation marks and brackets behind it aside. Unicode's
// property Sentence_Terminal says what ends one in each script.
func EndsSentence(s string) bool {
	s = strings.TrimRightFunc(s, func(r rune) bool {
		return r == '"' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Z)
	})
	last, _ := utf8.DecodeLastRuneInString(s)
	return unicode.Is(unicode.STerm, last)
}

// InCapitals reports whether a line is a title by its form: behind a number that it may have, it has capital letters,
// no small ones and no figures, and does not end as a sentence does. In a text of capitals that says nothing: see
// MostlySmall.
func InCapitals(line string) bool {
	title := strings.TrimLeft(line, "0123456789.) ")
	capitals, small := letterCases(title)
	return capitals > 1 && small == 0 && utf8.RuneCountInString(line) <= frameRunes && !EndsSentence(line) &&
		!statesSomething(title)
}

// MostlySmall reports whether a text has more small letters than capital ones.
func MostlySmall(s string) bool {
	capitals, small := letterCases(s)
	return small > capitals
}

// letterCases counts capital and small letters; a script without cases has neither.
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
