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
		!strings.ContainsFunc(line, func(r rune) bool { return unicode.IsDigit(r) || r == ':' || r == ';' })
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
