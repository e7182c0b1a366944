package locale

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/language"
)

// Pseudo is a language for tests: English, 40 % longer, between brackets, on a page from right to left. What a page
// shows without the brackets can't be translated, and what does not fit won't fit in German either.
var Pseudo = &Language{
	Code: "en-XA", Name: "Pseudo", RightToLeft: true, tag: language.English, alter: lengthen,
	words: func() map[string]translation { return nil },
}

// lengthen is a text as Pseudo has it. Its holes stay.
func lengthen(text string) string {
	if text == "" {
		return ""
	}
	n := utf8.RuneCountInString(text)
	return "⟦" + text + strings.Repeat("·", (2*n+4)/5) + "⟧"
}
