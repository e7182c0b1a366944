package ground

import (
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestPlacedFootnotesNeedMoreThanNumbers(t *testing.T) {
	t.Parallel()
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Letters"}
	s.Number(corpus.Passage{ID: "p", DocumentID: "d", Text: "The meeting was on 12 February in the town hall."}, doc)
	s.Number(corpus.Passage{ID: "q", DocumentID: "d", Text: "The flashing has to be replaced within 6 months."}, doc)
	s.Number(corpus.Passage{
		ID: "r", DocumentID: "d", Text: "Sent on 12 January. Call the number below for an answer.",
	}, doc)
	e := NewEvidence(s, NewCiter(s, nil, ""), chat.RunRequest{})
	for said, want := range map[string]string{
		"Calc 12.": "Calc 12.", "Try 6.": "Try 6.", "The number is 12.": "The number is 12.",
		"The answer is 12.":                     "The answer is 12.",
		"The meeting was on 12 February.":       "The meeting was on 12 February [1].",
		"Replace the flashing within 6 months.": "Replace the flashing within 6 months [2].",
	} {
		if got, _, _ := e.WithPlacedFootnotes(said); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
