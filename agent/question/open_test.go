package question

import "testing"

func TestTheFootnoteToOpen(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]int{
		"Open citation 2": 2, "Open [3], please": 3, "Open the first citation": 1, "show me the second footnote": 2,
		"Please open the last source.": LastCitation, "Open the source": 1, "Öffne die dritte Quelle": 3,
		"zeig mir die letzte Fußnote": LastCitation, "Open the 4th reference": 4, "open that citation please": 1,
		"Open the source of the river": 0, "What is the first source of income?": 0, "Open the first document": 0,
		"Does the last footnote mention dogs?": 0,
	} {
		number, ok := CitationToOpen(asked)
		if number != want || ok != (want != 0) {
			t.Errorf("%q opens footnote %d (%v), want %d", asked, number, ok, want)
		}
	}
}
