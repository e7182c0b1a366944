package locale

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// Pseudo is a language for tests: English, 40 % longer, in brackets, from right to left. Text without brackets is
// untranslatable, and text that does not fit would not fit in German either.
var Pseudo = &Language{
	Code: "en-XA", Name: "Pseudo", RightToLeft: true, tag: language.English, alter: lengthen,
	words: func() map[string]translation { return nil },
}

// lengthen returns a text in Pseudo. Its placeholders stay.
func lengthen(text string) string {
	if text == "" {
		return ""
	}
	n := utf8.RuneCountInString(text)
	return "⟦" + text + strings.Repeat("·", (2*n+4)/5) + "⟧"
}
