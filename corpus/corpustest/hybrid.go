package corpustest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"footnote/chat"
	"footnote/corpus"
)

// Hybrid is what Vectors have that rank by words as well.
type Hybrid interface {
	corpus.Vectors
	RanksWords() bool
	SearchHybrid(ctx context.Context, s chat.Scope, query []float32, words []corpus.TermWeight, documents []string, k int) ([]corpus.Hit, error)
}

// TestHybrid checks that a store ranks by words and meaning as the library would. open returns an empty store, once per subtest.
func TestHybrid(t *testing.T, open func(*testing.T) Hybrid) {
	t.Run("the order and the scores are those of both lists, fused", func(t *testing.T) {
		t.Parallel()
		testHybridRanking(t, open(t))
	})
	t.Run("what holds no word of the query is found by meaning alone", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{vector("near", "d", 0.8, 0.6), worded("far", "roof", 0, 1), vector("bare", "d", -1, 0)}))
		hits := mustHybrid(t, vs, alice, []float32{1, 0}, "roof", nil, 1)
		slices.SortFunc(hits, func(a, b corpus.Hit) int { return cmp.Compare(a.PassageID, b.PassageID) })
		wantStrings(t, "the best of each", ids(hits), []string{"far", "near"})
		for _, hit := range mustHybrid(t, vs, alice, []float32{1, 0}, "submarine", nil, 3) {
			if hit.Fused > 1.0/(corpus.FusionK+1)+1e-6 {
				t.Errorf("%+v was found by a word that nothing holds", hit)
			}
		}
	})
	t.Run("only the scope's passages are found, and they alone have ranks", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		mine, other, theirs, captured := worded("mine", "roof", 0, 1), worded("other", "roof", 0, 1), worded("theirs", "roof", 1, 0), worded("captured", "roof", 1, 0)
		mine.DocumentID, other.DocumentID, theirs.DocumentID, captured.DocumentID = "d1", "d2", "d3", "d4"
		other.Namespace, theirs.User, captured.Namespace = "other", bob.User, ".web.1"
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{mine, other, theirs, captured}))
		for _, tt := range []struct {
			name  string
			scope chat.Scope
			docs  []string
			want  []string
		}{
			{"all of a user's namespaces", alice, nil, []string{"mine", "other"}},
			{"one namespace", alice.In("other"), nil, []string{"other"}},
			{"a hidden namespace that is named", alice.In(".web.1"), nil, []string{"captured"}},
			{"a hostile namespace", alice.In(`other" or user == "bob`), nil, nil},
			{"another user", bob, nil, []string{"theirs"}},
			{"one document", alice, []string{"d2"}, []string{"other"}},
			{"another user's document", alice, []string{"d3"}, nil},
		} {
			hits := mustHybrid(t, vs, tt.scope, []float32{1, 0}, "roof", tt.docs, 10)
			got := ids(hits)
			slices.Sort(got)
			wantStrings(t, tt.name, got, tt.want)
			if len(hits) > 0 && math.Abs(hits[0].Fused-2.0/(corpus.FusionK+1)) > 1e-3 {
				t.Errorf("%s: the first has %v of %v", tt.name, hits[0].Fused, 2.0/(corpus.FusionK+1))
			}
		}
	})
	t.Run("a search sees each change at once", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		find := func(what string, want ...string) {
			t.Helper()
			var got []string
			for _, hit := range mustHybrid(t, vs, alice, []float32{0, 1}, "roof", nil, 1) {
				if hit.PassageID != "anchor" {
					got = append(got, hit.PassageID)
				}
			}
			wantStrings(t, what, got, want)
		}
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{vector("anchor", "d0", 0, 1)})) // the best by meaning, always
		find("nothing with the word")
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{worded("a", "roof", 1, 0)}))
		find("stored", "a")
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{worded("a", "door", 1, 0), worded("b", "roof", 1, 0)}))
		find("its words replaced", "b")
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "d", []string{"a"}))
		find("deleted")
	})
}

// worded is a vector of a passage with one word.
func worded(passage, word string, values ...float32) corpus.Vector {
	v := vector(passage, "d", values...)
	v.Words = []corpus.TermWeight{{Term: word, Weight: 1.5}}
	return v
}

func mustHybrid(t *testing.T, vs Hybrid, s chat.Scope, query []float32, word string, documents []string, k int) []corpus.Hit {
	t.Helper()
	hits, err := vs.SearchHybrid(t.Context(), s, query, []corpus.TermWeight{{Term: word, Weight: 2}}, documents, k)
	if err != nil {
		t.Fatalf("SearchHybrid: %v", err)
	}
	return hits
}

func testHybridRanking(t *testing.T, vs Hybrid) {
	const n, dimension, k = 400, 24, 20
	random := rand.New(rand.NewPCG(3, 4))
	var all []corpus.Vector
	for i := range n {
		v := vector(fmt.Sprintf("p%03d", i), fmt.Sprintf("d%d", i%7), randomUnit(random, dimension)...)
		held := make(map[string]bool)
		for range 1 + random.IntN(20) {
			held[fmt.Sprintf("word%d", int(40*math.Pow(random.Float64(), 3)))] = true
		}
		for _, word := range slices.Sorted(maps.Keys(held)) {
			v.Words = append(v.Words, corpus.TermWeight{Term: word, Weight: 0.3 + 1.9*random.Float32()})
		}
		all = append(all, v)
	}
	mustDo(t, "Upsert", vs.Upsert(t.Context(), all))
	if !vs.RanksWords() {
		t.Fatal("a store with words does not rank by them")
	}
	for range 5 {
		query := randomUnit(random, dimension)
		var words []corpus.TermWeight
		for range 3 {
			words = append(words, corpus.TermWeight{Term: fmt.Sprintf("word%d", random.IntN(40)), Weight: 0.1 + 5*random.Float32()})
		}
		slices.SortFunc(words, func(a, b corpus.TermWeight) int { return cmp.Compare(a.Term, b.Term) })
		words = slices.CompactFunc(words, func(a, b corpus.TermWeight) bool { return a.Term == b.Term })
		want := make(map[string]float64)
		rank := func(score func(corpus.Vector) float64) {
			scores := make(map[string]float64)
			for _, v := range all {
				if s := score(v); s != 0 {
					scores[v.PassageID] = s
				}
			}
			best := slices.SortedFunc(maps.Keys(scores), func(a, b string) int { return cmp.Compare(scores[b], scores[a]) })
			for i, id := range best[:min(k, len(best))] {
				want[id] += 1 / float64(corpus.FusionK+i+1)
			}
		}
		rank(func(v corpus.Vector) float64 { return dot(query, v.Values) })
		rank(func(v corpus.Vector) (sum float64) {
			for _, q := range words {
				for _, w := range v.Words {
					if q.Term == w.Term {
						sum += float64(q.Weight) * float64(w.Weight)
					}
				}
			}
			return sum
		})
		hits, err := vs.SearchHybrid(t.Context(), alice, query, words, nil, k)
		mustDo(t, "SearchHybrid", err)
		if len(hits) != len(want) || !slices.IsSortedFunc(hits, func(a, b corpus.Hit) int {
			return cmp.Or(cmp.Compare(b.Fused, a.Fused), cmp.Compare(a.PassageID, b.PassageID))
		}) {
			t.Errorf("%d hits in this order, want %d: %v", len(hits), len(want), hits)
		}
		for _, hit := range hits {
			if math.Abs(hit.Fused-want[hit.PassageID]) > 2e-6 || hit.DocumentID == "" {
				t.Errorf("%+v, want a score of %v", hit, want[hit.PassageID])
			}
		}
	}
}
