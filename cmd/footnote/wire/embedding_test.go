package wire

import (
	"context"
	"math"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/corpus/search"
)

// high is an embedder with only high cosines, like some models: 0.8 + 0.2 of the other's.
type high struct{ embedtest.Hashing }

func (h high) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := h.Hashing.Embed(ctx, texts)
	for i, v := range vectors {
		vectors[i] = raised(v)
	}
	return vectors, err
}

func (h high) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := h.Hashing.EmbedQuery(ctx, text)
	return raised(v), err
}

func raised(v []float32) []float32 {
	out := make([]float32, 0, len(v)+1)
	for _, x := range v {
		out = append(out, x*float32(math.Sqrt(0.2)))
	}
	return append(out, float32(math.Sqrt(0.8)))
}

// Similarities are normalised: a model with high cosines gives the same values as one with low ones.
func TestSimilaritiesAreNormalizedByEmbedder(t *testing.T) {
	t.Parallel()
	texts := []string{"the roof is of slate", "the cellar is dry", "slate is on the roof of the house", "of"}
	compare := func(e corpus.Embedder) []float64 {
		queries, passages := search.SimilarityPairs()
		found, err := e.Embed(t.Context(), passages)
		if err != nil {
			t.Fatal(err)
		}
		var asked [][]float32
		for _, q := range queries {
			v, err := e.EmbedQuery(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			asked = append(asked, v)
		}
		scaleOf := func(context.Context) (search.Scale, error) { return search.MeasureScale(asked, found), nil }
		got, err := sentenceSimilarity(e, scaleOf)(t.Context(), "is the roof of slate", texts)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	low, raised := compare(embedtest.Hashing{}), compare(high{})
	apart := 0.0
	for i := range texts {
		if math.Abs(low[i]-raised[i]) > 1e-3 {
			t.Errorf("%q is %.4f near by high cosines, want the %.4f of low ones", texts[i], raised[i], low[i])
		}
		apart = max(apart, math.Abs(low[i]-low[0]))
	}
	if apart < 0.1 {
		t.Errorf("the texts are %v near, want them to differ", low)
	}
}
