package search_test

import (
	"math"
	"testing"

	"github.com/footnote/footnote/corpus/search"
)

// turned returns a vector of two dimensions with a cosine to the first axis.
func turned(cosine float64) []float32 {
	return []float32{float32(cosine), float32(math.Sqrt(1 - cosine*cosine))}
}

func TestScaleSeparatesAnswers(t *testing.T) {
	t.Parallel()
	// cosines of 0.86 and 0.84 for answers, of 0.74 and 0.76 for the rest
	measured := search.MeasureScale(
		[][]float32{{1, 0, 0, 0}, {0, 1, 0, 0}},
		[][]float32{{0.86, 0.74, 0, 0}, {0.76, 0.84, 0, 0}},
	)
	for cosine, want := range map[float64]float64{0.80: 0.5, 0.75: 0, -1: 0, 1: 1} {
		if got := measured.Similarity(cosine); math.Abs(got-want) > 1e-6 {
			t.Errorf("a cosine of %v is a similarity of %v, want %v", cosine, got, want)
		}
	}
	last := -1.0
	for cosine := 0.79; cosine < 0.81; cosine += 0.0005 {
		if got := measured.Similarity(cosine); got <= last {
			t.Errorf("a cosine of %v is a similarity of %v, want more than %v", cosine, got, last)
		} else {
			last = got
		}
	}
}

// Passages on the subject of a query are far above the middle, whether they answer or not. Their similarities must
// differ.
func TestSimilarityDoesNotSaturate(t *testing.T) {
	t.Parallel()
	measured := search.MeasureScale(
		[][]float32{{1, 0, 0, 0}, {0, 1, 0, 0}},
		[][]float32{{0.5, 0.1, 0, 0}, {0.2, 0.4, 0, 0}},
	)
	last := 0.7
	for _, cosine := range []float64{0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} {
		got := measured.Similarity(cosine)
		if got < last+0.03 || got > 1 {
			t.Errorf("similarity of a cosine of %v = %v, want %v to 1", cosine, got, last+0.03)
		}
		last = got
	}
	if last != 1 {
		t.Errorf("similarity of the same meaning = %v, want 1", last)
	}
}

func TestUniformEmbedderHasNoScale(t *testing.T) {
	t.Parallel()
	same := [][]float32{turned(1), turned(1), turned(1)}
	for name, s := range map[string]search.Scale{
		"all alike":            search.MeasureScale(same, same),
		"answers are farthest": search.MeasureScale([][]float32{{1, 0}, {0, 1}}, [][]float32{{0, 1}, {1, 0.1}}),
		"no vectors":           search.MeasureScale(nil, nil),
		"not measured":         {},
	} {
		for cosine, want := range map[float64]float64{-0.5: 0, 0: 0, 0.3: 0.3, 1: 1} {
			if got := s.Similarity(cosine); got != want {
				t.Errorf("%s: a cosine of %v is a similarity of %v, want %v", name, cosine, got, want)
			}
		}
	}
}

func TestQueriesHaveOwnPassage(t *testing.T) {
	t.Parallel()
	queries, passages := search.SimilarityPairs()
	if len(queries) != len(passages) || len(queries) < 12 {
		t.Fatalf("%d queries and %d passages, want as many, and at least 12", len(queries), len(passages))
	}
	for i := range queries {
		if len(queries[i]) == 0 || len(queries[i]) > 100 || len(passages[i]) < 300 {
			t.Errorf("pair %d = %q, %q", i, queries[i], passages[i])
		}
	}
}
