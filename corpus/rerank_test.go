package corpus_test

import (
	"strings"
	"testing"

	"footnote/corpus"
)

func TestRerankLooksASecondTime(t *testing.T) {
	sh := openShelf(t, t.TempDir(), nil)
	sh.start(t)
	sh.add(
		t, "Scattered.md",
		"# Overview\n\nCost, cost and cost again. The gutter is old. Gutter! Snow clearing is done by the town. "+
			"Clearing is done weekly.\n",
	)
	sh.add(t, "Together.md",
		"# Works\n\nThe house was visited on a dry day in spring and all its rooms were seen from the inside. The "+
			"neighbour told of a storm two years ago. "+
			"The cost of clearing the gutter is 180 pounds. The ladder was lent by the owner, who also opened "+
			"the loft, "+
			"the cellar, the shed and the summer house for us to look around.\n")
	sh.wait(t)
	for _, tt := range []struct {
		rerank bool
		want   string
	}{{false, "Scattered.md"}, {true, "Together.md"}} {
		for _, mode := range []corpus.SearchMode{corpus.ModeHybrid, corpus.ModeLexical, corpus.ModeSemantic} {
			found := sh.search(t, corpus.Query{
				Text: "cost of clearing the gutter", Limit: 1, Mode: mode, Rerank: tt.rerank,
			})
			if got := titles(found); len(got) != 1 || got[0] != tt.want {
				t.Errorf("%s, rerank %v: %q, want %s", mode, tt.rerank, got, tt.want)
			}
		}
	}
}

func TestSimilaritiesAreThoseOfASearchByMeaning(t *testing.T) {
	sh := openSemantic(t)
	fill(t, sh)
	const query = "slates, rent and elephants"
	want := map[string]float64{}
	for _, r := range sh.search(t, corpus.Query{Text: query, Mode: corpus.ModeSemantic, Limit: 50}).Results {
		want[r.Passage.ID] = r.Score
	}
	for name, q := range map[string]corpus.Query{
		"by words":  {Text: query, Mode: corpus.ModeLexical, Cosines: true},
		"both ways": {Text: query, Cosines: true},
		"reranked":  {Text: query, Rerank: true},
	} {
		found := sh.search(t, q)
		if len(found.Results) < 3 {
			t.Errorf("%s: %q", name, titles(found))
		}
		for _, r := range found.Results {
			if r.Similarity == nil || *r.Similarity != want[r.Passage.ID] {
				t.Errorf("%s: the similarity of %s is not %v", name, r.Document.Filename, want[r.Passage.ID])
			}
		}
	}
	r := sh.search(t, corpus.Query{Text: query, Mode: corpus.ModeLexical}).Results[0]
	if r.Cosine != nil || r.Similarity != nil {
		t.Errorf("a search by words looked at vectors: %v", r)
	}
	found := sh.search(t, corpus.Query{Text: query, Mode: corpus.ModeLexical, MinScore: 0.9})
	if len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "a search by words does not look at") {
		t.Errorf("notes %q; want 1 note and %q in it", found.Notes, "a search by words does not look at")
	}
}
