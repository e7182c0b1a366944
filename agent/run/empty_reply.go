package run

import (
	"strings"
	"unicode"

	"footnote/agent/ground"
)

// saysNothing reports whether a reply is no answer: numbers of passages alone, or besides only the question again. It
// compares words, in any language that separates them. A reply with any word of its own is an answer.
func saysNothing(reply, asked string) bool {
	said, question := map[string]bool{}, map[string]bool{}
	for _, words := range []struct {
		of   string
		into map[string]bool
	}{{ground.WithoutMarkers(reply), said}, {asked, question}} {
		for _, word := range strings.FieldsFunc(strings.ToLower(words.of), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r)
		}) {
			words.into[word] = true
		}
	}
	for word := range said {
		if !question[word] {
			return false
		}
	}
	return 2*len(said) > len(question) || len(said) == 0 // else it chooses one of what the question names
}
