package ground

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/corpus"
)

func TestFollowUps(t *testing.T) {
	const said = "It is done twice a week by the warden, at eight, with a lamp and a book."
	source := func(n int, section string) Source {
		return Source{N: n, Document: corpus.Document{ID: "mill", Language: "en", Title: "Rules of the mill"},
			Passage: corpus.Passage{
				Ordinal: n, Section: "Rules of the mill › " + section, Text: section + "\n" + said,
			}}
	}
	all := []Source{source(1, "Gates"), source(2, "Lamps"), source(3, "Lamps"), source(4, "Wells")}
	for _, tt := range []struct {
		name     string
		cited    []int
		question string
		want     []string
	}{
		{"those that were not cited", []int{1}, "When does the warden come?", []string{"What does “Lamps” say?",
			"What does “Wells” say?"}},
		{"not what was asked", []int{1}, "what does “Lamps” say?", []string{"What does “Wells” say?"}},
		{"the next section", []int{1}, "When is it open?", []string{"What does “Lamps” say?"}},
		{"another language", []int{1}, "Wann ist das Tor geöffnet und wer macht es auf?", nil},
		{"all were cited: those that were cited last", []int{1, 2, 4}, "", []string{"What does “Wells” say?",
			"What does “Lamps” say?"}},
		{"nothing was cited", nil, "When does the warden come?", nil},
	} {
		if got := FollowUps(all, tt.cited, tt.question); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestFollowUpsAreAboutTheQuestion(t *testing.T) {
	source := func(n int, title, section, said string) Source {
		return Source{N: n, Document: corpus.Document{ID: title, Language: "en", Title: title},
			Passage: corpus.Passage{Ordinal: 2 * n, Section: title + " › " + section, Text: section + "\n" + said}}
	}
	all := []Source{
		source(1, "Rules of the mill", "Lighting", "The lamps are lit at dusk by the warden, who keeps a book of it."),
		source(2, "Rules of the mill", "Oil", "The oil of all lamps is filled up every second day, before it is dark."),
		source(3, "Rules of the mill", "Wells", "The well is covered at night, and opened again by eight o'clock."),
		source(4, "Lease of the office", "Rent", "The rent of 900 pounds is due on the first day of every month."),
		source(5, "Lease of the office", "Use", "No lamps with open fire are lit in the rooms of the office."),
	}
	want := []string{"What does “Oil” say?"}
	if got := FollowUps(all, []int{1}, "When are the lamps lit?"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
