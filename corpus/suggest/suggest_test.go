package suggest

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/text"
)

func TestQuestion(t *testing.T) {
	const more = " The hens are fed twice a day with corn and greens from the garden beds."
	for _, tt := range []struct {
		name    string
		passage Passage
		want    string
	}{
		{"a heading", Passage{"en", "Farm", "Farm › 2.1 Keeping hens", "2.1 Keeping hens\n" + more},
			"What does “Keeping hens” say?"},
		{"a heading that asks", Passage{"en", "Farm", "How are hens fed?", "How are hens fed?\n" + more},
			"How are hens fed?"},
		{"a heading in German", Passage{"de", "Hof", "Hühner halten", "Hühner halten\nDie Hühner bekommen zweimal am " +
			"Tag Körner, Grünes aus dem Garten und frisches Wasser."}, "Was hat es mit „Hühner halten“ auf sich?"},
		{"a row of a table", Passage{"en", "Stock", "", "Part | Shelf\nHinge | B2\nSash lock | D4\nPutty | E1"},
			"What is “Shelf” for “Sash lock”?"},
		{"a table in an unknown language", Passage{"", "a.csv", "", "Nr | Kunde\n1 | Meier GmbH\n2 | Weiß AG"},
			"Weiß AG: Nr?"},
		{"a head that is only grammar", Passage{"en", "a.csv", "", "What | When\n1 | every two months\n2 | " +
			"every two years"}, ""},
		{"rows whose heads are elsewhere", Passage{"en", "a.csv", "Part | Shelf", "Hinge | B2\nPutty | E1"}, ""},
		{"words that a sentence is about", Passage{"en", "notes.txt", "", "The sluice gate was painted on Monday by " +
			"the miller and his son. The sluice gate is green now."}, "What is there about “sluice gate”?"},
		{"the title, when nothing else is there", Passage{"en", "New roof", "New roof", "New roof\nslate, copper, " +
			"Hargreaves, four men, two weeks, April"}, "What does “New roof” say?"},
		{"a heading with nothing below it", Passage{"en", "Farm", "Hens", "Hens"}, ""},
		{"a heading that can't be quoted", Passage{"en", "Farm", "The “best” hens", "Short."}, ""},
		{"nothing", Passage{}, ""},
	} {
		if got := tt.passage.Question(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A search uses only the document's words: those of the template are stop words.
func TestTemplateWordsAreStopWords(t *testing.T) {
	for language, f := range languages {
		for _, form := range []string{f.section, f.words, f.cell} {
			asked := fill(form, "Hargreaves", "Millbrook")
			for _, w := range text.QueryWords(asked, []string{language}) {
				if w.Gram || !slices.Contains([]string{"Hargreaves", "Millbrook"}, w.Text) {
					t.Errorf("%s: %q is searched for in %q, want the document's words alone", language, w.Text, asked)
				}
			}
			if !strings.Contains(asked, "Hargreaves") {
				t.Errorf("%s: %q lacks the document's words", language, asked)
			}
		}
	}
}
