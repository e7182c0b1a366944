package ground

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestWhatIsSaidToBeAbsentWasLookedFor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		question, query, said string
		denied                bool
	}{
		{"How much does parking cost?", "parking price", "The documents do not state what parking costs.", false},
		{"How much does parking cost?", "parking price", "The documents do not mention a swimming pool.", true},
		{"How much does parking cost?", "parking price", "I could not find anything about the parking price.", false},
		{"How much does parking cost?", "parking price", "There is no information about who owns the garden.", true},
		{"How much does parking cost?", "parking price", "I couldn't find more details.", false},
		{"How much does parking cost?", "parking price", "I searched for: parking price.", false},
		{"How much does parking cost?", "parking price", "I searched for treasure maps.", true},
		// asked, and searched for in other words
		{"Are pets allowed?", "animals in the flat", "The lease does not mention pets.", false},
		// a passage says so
		{"How much does parking cost?", "parking price", "The lease does not describe the garden fence.", false},
		{"Was kostet das Parken im Hof?", "Parken Preis", "Die Dokumente enthalten keine Angaben zum Preis.", false},
		{"Was kostet das Parken im Hof?", "Parken Preis", "Die Dokumente erwähnen keine Drachen.", true},
		{"Combien coûte le parking de la cour ?", "prix parking", "Les documents ne mentionnent pas le prix.", false},
		{"Combien coûte le parking de la cour ?", "prix parking",
			"Les documents ne mentionnent pas les dragons.", true},
		{"¿Cuánto cuesta el aparcamiento del patio?", "precio aparcamiento", "El precio no se menciona.", false},
		{"¿Cuánto cuesta el aparcamiento del patio?", "precio aparcamiento",
			"Los dragones no se mencionan en los documentos.", true},
		{"停车费是多少钱？", "停车费", "文档中没有提到停车费。", false},
		{"停车费是多少钱？", "停车费", "文档中没有提到恐龙博物馆。", true},
		{"How much does parking cost?", "parking price", "文档中没有提到恐龙博物馆。", false}, // can't be compared
	} {
		s := NewSources()
		s.Number(corpus.Passage{ID: "p", Text: "The lease does not describe the garden fence. Cars park in the yard."},
			corpus.Document{ID: "d", Title: "Contract"})
		s.NoteSearch(tt.query, 3)
		e := NewEvidence(s, NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r"), chat.RunRequest{Message: tt.question})
		if got := e.isDenied(tt.said); got != tt.denied {
			t.Errorf("%q after a search for %q: denied = %v, want %v", tt.said, tt.query, got, tt.denied)
		}
		c, _ := e.CompareGiven(tt.said)
		if got := slices.Contains(c.Unsupported, tt.said); got != tt.denied && !IsFactualClaim(tt.said) {
			t.Errorf("%q after a search for %q: unsupported = %v, want %v", tt.said, tt.query, got, tt.denied)
		}
	}
}
