package corpustest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"footnote/corpus"
)

// testRarities checks that the two sides of BM25 that stores give out make the order of SearchLexical.
func testRarities(t *testing.T, open func(*testing.T) LexicalStores) {
	texts := []string{"roof gutter tiles slate roof", "roof house garden fence and more words beside it", "roof lawn path gate", "house garden hedge lawn",
		"nothing of the kind", "slate"}
	t.Run("rarity times saturation is the order of a search by words", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		d := mustPut(t, st.Documents, file("a.md", "x"))
		c := contentOf(d, texts...)
		c.Terms[3].Title = "slate roof"
		mustPutContent(t, st.Documents, d.ID, c)
		average, err := st.Lexical.AverageLength(t.Context())
		mustDo(t, "AverageLength", err)
		total := 2 // of the title
		for _, text := range texts {
			total += len(strings.Fields(text))
		}
		if want := float64(total) / float64(len(texts)); math.Abs(average-want) > 1e-9 {
			t.Errorf("AverageLength = %v, want %v", average, want)
		}
		for _, query := range [][]string{{"roof", "slate"}, {"lawn", "roof", "garden"}, {"house"}} {
			rarities, err := st.Lexical.Rarities(t.Context(), query)
			mustDo(t, "Rarities", err)
			want := st.found(t, alice, terms(query...), 10)
			scores := make(map[string]float64)
			for i, of := range c.Terms {
				for _, w := range of.Weights(average) {
					for _, q := range rarities {
						if q.Term == w.Term {
							scores[texts[i]] += float64(q.Weight) * float64(w.Weight)
						}
					}
				}
			}
			if len(scores) != len(want) || !slices.IsSortedFunc(want, func(a, b string) int {
				return map[bool]int{true: -1, false: 1}[scores[a] >= scores[b]-1e-6]
			}) {
				t.Errorf("%q: the search's order %q is not that of the scores %v", query, want, scores)
			}
		}
	})
	t.Run("rarest first, each with its inverse document frequency", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		ingest(t, st.Documents, file("a.md", ""), texts...)
		got, err := st.Lexical.Rarities(t.Context(), []string{"roof", "submarine", "gutter", "roof", "garden"})
		mustDo(t, "Rarities", err)
		want := []corpus.TermWeight{{Term: "gutter", Weight: idf(6, 1)}, {Term: "garden", Weight: idf(6, 2)}, {Term: "roof", Weight: idf(6, 3)}}
		if !slices.EqualFunc(got, want, func(a, b corpus.TermWeight) bool {
			return a.Term == b.Term && math.Abs(float64(a.Weight-b.Weight)) < 1e-6
		}) {
			t.Errorf("Rarities = %v, want %v", got, want)
		}
	})
	t.Run("an empty index has neither", func(t *testing.T) {
		t.Parallel()
		st := open(t)
		got, err := st.Lexical.Rarities(t.Context(), []string{"roof"})
		if err != nil || len(got) > 0 {
			t.Errorf("Rarities = %v, %v", got, err)
		}
		if average, err := st.Lexical.AverageLength(t.Context()); err != nil || average != 1 {
			t.Errorf("AverageLength = %v, %v; want 1", average, err)
		}
	})
}

func idf(passages, found float64) float32 {
	return float32(math.Log(1 + (passages-found+0.5)/(found+0.5)))
}
