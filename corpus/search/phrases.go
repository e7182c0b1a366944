package search

import (
	"slices"

	"footnote/corpus/text"
)

// HasPhrases reports whether a text holds every phrase word for word, case and diacritics apart.
func HasPhrases(s string, phrases []string) bool {
	if len(phrases) == 0 {
		return true
	}
	terms := text.Terms(s, "")
	for _, p := range phrases {
		if !containsRun(terms, text.Terms(p, "")) {
			return false
		}
	}
	return true
}

func containsRun(list, run []string) bool {
	for i := 0; i+len(run) <= len(list); i++ {
		if slices.Equal(list[i:i+len(run)], run) {
			return true
		}
	}
	return len(run) == 0
}
