package corpustest

import (
	"maps"
	"math"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// TestVectorModels tests the contract of corpus.Vectors for several embedding models. open is called once per
// subtest and returns a function that opens the store of a model in an initially empty place. During a change of
// the model, old vectors are searched while new ones are created.
func TestVectorModels(t *testing.T, open func(*testing.T) func(model string) corpus.Vectors) {
	// Each query is the first axis, so a cosine is a vector's first value.
	axis := []float32{1, 0}
	finds := func(t *testing.T, who string, vs corpus.Vectors, query []float32, want map[string]float64) {
		t.Helper()
		got := map[string]float64{}
		for _, hit := range mustSearch(t, vs, alice, query, nil, 10) {
			got[hit.PassageID] = math.Round(hit.Cosine*100) / 100
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s finds %v, want %v", who, got, want)
		}
	}
	counts := func(t *testing.T, who string, vs corpus.Vectors, want map[string]int) {
		t.Helper()
		got, err := vs.CountVectors(t.Context(), []string{"d1", "d2", "unknown"})
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s counts %v, %v; want %v", who, got, err, want)
		}
	}
	// The library finds documents with missing vectors by these counts.
	t.Run("vectors are counted by document", func(t *testing.T) {
		t.Parallel()
		vs := open(t)("old")
		counts(t, "an empty store", vs, nil)
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{
			vector("a", "d1", 1, 0), vector("b", "d1", 0, 1), vector("c", "d2", 0, 1), vector("e", "d3", 0, 1),
		}))
		counts(t, "the store", vs, map[string]int{"d1": 2, "d2": 1})
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "d1", []string{"b"}))
		counts(t, "the store after a removal", vs, map[string]int{"d1": 1, "d2": 1})
		mustDo(t, "Complete", vs.Complete(t.Context()))
		counts(t, "the complete store", vs, map[string]int{"d1": 1, "d2": 1})
	})
	// Vectors of different models are comparable but the result is meaningless, so they must be separate. Switching
	// back to the old model before the new one is complete finds everything; Complete drops the other models'
	// vectors.
	t.Run("model of the same dimension has separate vectors", func(t *testing.T) {
		t.Parallel()
		of := open(t)
		old := of("old")
		mustDo(t, "Upsert", old.Upsert(
			t.Context(), []corpus.Vector{vector("a", "d1", 1, 0), vector("b", "d1", 0.6, 0.8), vector("c", "d2", 0, 1)},
		))
		mustDo(t, "Complete", old.Complete(t.Context()))
		fresh := of("new")
		finds(t, "the new model at first", fresh, axis, map[string]float64{})
		// Vectors of the old model do not count: the library must see that the new model's are missing.
		counts(t, "the new model at first", fresh, nil)
		mustDo(t, "Upsert", fresh.Upsert(t.Context(), []corpus.Vector{vector("a", "d1", -1, 0)}))
		finds(t, "the new model", fresh, axis, map[string]float64{"a": -1})
		counts(t, "the new model", fresh, map[string]int{"d1": 1})
		// The new model's vectors have not overwritten those of the old one, even for the same passage.
		back := of("old")
		finds(t, "the old model, switched back to,", back, axis, map[string]float64{"a": 1, "b": 0.6, "c": 0})
		counts(t, "the old model, switched back to,", back, map[string]int{"d1": 2, "d2": 1})
		mustDo(t, "Complete", fresh.Complete(t.Context()))
		finds(t, "the new model, complete,", fresh, axis, map[string]float64{"a": -1})
		counts(t, "the new model, complete,", fresh, map[string]int{"d1": 1})
		// Complete dropped them, so the old model would have to embed everything again.
		late := of("old")
		finds(t, "the old model after that", late, axis, map[string]float64{})
		counts(t, "the old model after that", late, nil)
	})
	// VectorsOf avoids embedding a known text again.
	t.Run("text has one vector per model", func(t *testing.T) {
		t.Parallel()
		of := open(t)
		old, fresh := of("old"), of("new")
		v := vector("a", "d1", 1, 0)
		v.TextHash = "of a text"
		mustDo(t, "Upsert", old.Upsert(t.Context(), []corpus.Vector{v}))
		if got, err := fresh.VectorsOf(t.Context(), []string{v.TextHash}); err != nil || len(got) > 0 {
			t.Errorf("VectorsOf another model = %v, %v; want none", got, err)
		}
		if got, err := old.VectorsOf(t.Context(), []string{v.TextHash}); err != nil || len(got) != 1 {
			t.Errorf("VectorsOf the model = %v, %v; want one", got, err)
		}
	})
	// Dimensions are validated within a model only.
	t.Run("model of another dimension coexists", func(t *testing.T) {
		t.Parallel()
		of := open(t)
		old, fresh := of("old"), of("new")
		mustDo(t, "Upsert", old.Upsert(t.Context(), []corpus.Vector{vector("a", "d1", 1, 0)}))
		mustDo(t, "Upsert", fresh.Upsert(t.Context(), []corpus.Vector{vector("a", "d1", 0, 0, 1)}))
		finds(t, "the old model", old, axis, map[string]float64{"a": 1})
		finds(t, "the new model", fresh, []float32{0, 0, 1}, map[string]float64{"a": 1})
		mustDo(t, "DeleteVectors", fresh.DeleteVectors(t.Context(), "d1", nil))
		finds(t, "the new model without its document", fresh, []float32{0, 0, 1}, map[string]float64{})
		mustDo(t, "Upsert", fresh.Upsert(t.Context(), []corpus.Vector{vector("b", "d2", 0, 0, 1)}))
		finds(t, "the new model with another document", fresh, []float32{0, 0, 1}, map[string]float64{"b": 1})
	})
}
