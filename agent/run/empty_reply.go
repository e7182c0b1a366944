package run

import (
	"iter"
	"strings"
	"unicode"

	"github.com/footnote/footnote/agent/ground"
)

// saysNothing reports whether a reply is no answer: numbers of passages alone, or besides only the question again, its
// words in the question's order. It compares words, in any language that separates them. A reply with a word of its own
// is an answer, and so is one that turns the question into a statement: “The roof is good” for “Is the roof good?”.
// More than half of the question's words have to be there: fewer may be the choice that it asks for.
func saysNothing(reply, asked string) bool {
	place := map[string]int{} // of each word of the question, where it comes first
	for word := range lowerWords(asked) {
		if _, known := place[word]; !known {
			place[word] = len(place)
		}
	}
	said, last := map[string]bool{}, -1
	for word := range lowerWords(ground.WithoutMarkers(reply)) {
		if said[word] {
			continue
		}
		at, known := place[word]
		if !known || at < last {
			return false
		}
		said[word], last = true, at
	}
	return 2*len(said) > len(place) || len(said) == 0 // else it chooses one of what the question names
}

// lowerWords are the words of a text, in lower case.
func lowerWords(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}
