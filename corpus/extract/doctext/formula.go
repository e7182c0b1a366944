package doctext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// Raised returns an exponent: a number in superscript digits, a sign such as a prime as it is.
func Raised(s string) string {
	first, _ := utf8.DecodeRuneInString(s)
	if up := text.Superscript(s); up != s || s == "" || utf8.RuneCountInString(s) == 1 && !unicode.IsLetter(first) {
		return up
	}
	return "^" + Grouped(s)
}

// Lowered returns an index. One of several characters is separated from its base.
func Lowered(s string) string {
	if utf8.RuneCountInString(s) < 2 {
		return s
	}
	return "_" + Grouped(s)
}

// Grouped returns an operand, in brackets if it holds an operator.
func Grouped(s string) string {
	if strings.ContainsAny(s, "+-−*/=<>, ·⋅×±") {
		return "(" + s + ")"
	}
	return s
}
