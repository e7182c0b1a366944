package ground

import (
	"slices"
	"testing"

	"footnote/corpus"
)

func TestFollowUps(t *testing.T) {
	const said = "It is done twice a week by the warden, at eight, with a lamp and a book."
	source := func(n int, section string) Source {
		return Source{N: n, Document: corpus.Document{Language: "en", Title: "Rules of the mill"},
			Passage: corpus.Passage{Section: "Rules of the mill › " + section, Text: section + "\n" + said}}
	}
	all := []Source{source(1, "Gates"), source(2, "Lamps"), source(3, "Lamps"), source(4, "Wells")}
	for _, tt := range []struct {
		name     string
		cited    []int
		question string
		want     []string
	}{
		{"those that were not cited", []int{1}, "", []string{"What does “Lamps” say?", "What does “Wells” say?"}},
		{"not what was asked", []int{1}, "what does “Lamps” say?", []string{"What does “Wells” say?"}},
		{"all were cited: those that were cited last", []int{1, 2, 4}, "", []string{"What does “Wells” say?",
			"What does “Lamps” say?"}},
		{"nothing was cited", nil, "", []string{"What does “Gates” say?", "What does “Lamps” say?",
			"What does “Wells” say?"}},
	} {
		if got := FollowUps(all, tt.cited, tt.question); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
