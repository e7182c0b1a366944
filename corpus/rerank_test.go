package corpus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/sqlite"
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

// byWord is a reranker at the edge: a passage with the word has the score 0.9, another 0.1.
type byWord struct {
	word string
	err  error
	wait bool // until the search gives up
	asks *[]int
}

func (r byWord) Scores(ctx context.Context, _ string, passages []string) ([]float64, error) {
	*r.asks = append(*r.asks, len(passages))
	if r.wait {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var out []float64
	for _, p := range passages {
		score := 0.1
		if strings.Contains(p, r.word) {
			score = 0.9
		}
		out = append(out, score)
	}
	return out, r.err
}

func TestARerankerOrdersTheBestAndItsFailureLosesNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		r     byWord
		first string
		score float64
		noted bool
	}{
		{"it answers", byWord{word: "slate"}, "Second.md", 0.9, false},
		{"it fails", byWord{word: "slate", err: errors.New("boom")}, "First.md", 0, true},
		{"it is slow", byWord{word: "slate", wait: true}, "First.md", 0, true},
	} {
		var asks []int
		tt.r.asks = &asks
		sh := openShelf(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
			c.Reranker, c.RerankTime = tt.r, 100*time.Millisecond
		})
		sh.start(t)
		sh.add(t, "First.md", "# Roof\n\nThe roof, the roof, the roof is old.\n")
		sh.add(t, "Second.md", "# House\n\nAll that is above the rooms is of slate, a roof of sorts, they say.\n")
		sh.wait(t)
		found := sh.search(t, corpus.Query{Text: "roof", Rerank: true})
		if got := titles(found); len(got) != 2 || got[0] != tt.first ||
			tt.score > 0 && found.Results[0].Score != tt.score ||
			(len(found.Notes) > 0) != tt.noted {
			t.Errorf("%s: %q with score %v, notes %q; want %s first with %v, a note: %v", tt.name, got,
				found.Results[0].Score, found.Notes, tt.first, tt.score, tt.noted)
		}
		if len(asks) != 1 || asks[0] != 2 {
			t.Errorf("%s: it was asked about %v passages, want 2 once", tt.name, asks)
		}
		if found = sh.search(t, corpus.Query{Text: "roof"}); len(asks) != 1 || titles(found)[0] != "First.md" {
			t.Errorf("%s: without Rerank it was asked %d times and %q is first", tt.name, len(asks), titles(found)[0])
		}
	}
}
