package search

import (
	"slices"

	"github.com/footnote/footnote/text"
)

// HasPhrases reports whether a text holds every phrase word for word, case and diacritics apart. Stores find phrases by
// stems; here words must be those that were typed, but for case and diacritics.
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

// containsRun reports whether a list holds a run of terms one behind the other; an empty run is in each list.
func containsRun(list, run []string) bool {
	for i := 0; i+len(run) <= len(list); i++ {
		if slices.Equal(list[i:i+len(run)], run) {
			return true
		}
	}
	return len(run) == 0
}
