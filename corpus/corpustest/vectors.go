package corpustest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// TestVectors tests the contract of corpus.Vectors. open returns an empty store, once per subtest. Vectors have
// length 1, so a cosine is a dot product.
func TestVectors(t *testing.T, open func(*testing.T) corpus.Vectors) {
	// Compare with a brute-force search of 500 random vectors in float64. An approximate index must oversample and
	// compute exact cosines.
	t.Run("nearest vectors come first with exact cosines", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		// A fixed seed makes failures reproducible.
		const n, dimension, k = 500, 24, 10
		random := rand.New(rand.NewPCG(1, 2))
		var all []corpus.Vector
		for i := range n {
			all = append(
				all, vector(fmt.Sprintf("p%03d", i), fmt.Sprintf("d%d", i%7), randomUnit(random, dimension)...),
			)
		}
		mustDo(t, "Upsert", vs.Upsert(t.Context(), all))
		for range 5 {
			query := randomUnit(random, dimension)
			slices.SortFunc(all, func(a, b corpus.Vector) int {
				if dot(query, a.Values) > dot(query, b.Values) {
					return -1
				}
				return 1
			})
			hits := mustSearch(t, vs, alice, query, nil, k)
			if len(hits) != k {
				t.Fatalf("%d hits, want %d", len(hits), k)
			}
			// A float32 has about seven digits; 1e-5 allows for the sum of 24 products.
			for i, hit := range hits {
				want := all[i]
				if hit.PassageID != want.PassageID || hit.DocumentID != want.DocumentID ||
					math.Abs(hit.Cosine-dot(query, want.Values)) > 1e-5 {
					t.Errorf("hit %d = %+v, want %s with %f", i, hit, want.PassageID, dot(query, want.Values))
				}
			}
		}
	})
	t.Run("ties are ordered by passage id", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{
			vector("c", "d", 1, 0), vector("a", "d", 1, 0), vector("z", "d", 0, 1), vector("b", "d", 1, 0),
		}))
		// Three of four, and more than there are.
		wantStrings(t, "hits", ids(mustSearch(t, vs, alice, []float32{1, 0}, nil, 3)), []string{"a", "b", "c"})
		wantStrings(t, "hits", ids(mustSearch(t, vs, alice, []float32{1, 0}, nil, 9)), []string{"a", "b", "c", "z"})
	})
	// Rounding must not exceed 1, which a page would display as 101 %.
	t.Run("cosines range from -1 to 1", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		mustDo(t, "Upsert", vs.Upsert(
			t.Context(), []corpus.Vector{vector("same", "d", 0.6, 0.8), vector("opposite", "d", -0.6, -0.8)},
		))
		hits := mustSearch(t, vs, alice, []float32{0.6, 0.8}, nil, 2)
		// Close to the limits, and never beyond them.
		if len(hits) != 2 || math.Abs(hits[0].Cosine-1) > 1e-6 || math.Abs(hits[1].Cosine+1) > 1e-6 ||
			hits[0].Cosine > 1 || hits[1].Cosine < -1 {
			t.Errorf("hits = %+v", hits)
		}
	})
	// Passages of the same text have the same vector: the hash finds it also across users, and reveals only that.
	t.Run("vector is looked up by text", func(t *testing.T) {
		t.Parallel()
		// Hashes are bytes, not text: this one has a zero byte and is invalid UTF-8.
		vs, hash := open(t), string([]byte{0, 1, 255})
		known, other := vector("p", "d", 0.6, 0.8), vector("q", "d", 1, 0)
		known.TextHash = hash
		wantKnown := func(when string, n int) {
			t.Helper()
			got, err := vs.VectorsOf(t.Context(), []string{"no such text", hash, ""})
			if err != nil || len(got) != n || n > 0 && !slices.Equal(got[hash], known.Values) {
				t.Errorf("%s: VectorsOf = %v, %v; want %d, that of the text", when, got, err, n)
			}
		}
		wantKnown("at first", 0)
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{known, other}))
		wantKnown("once it is stored", 1)
		// Another user's passage with the same text. Once the first passage is deleted with its document, the text
		// is unknown.
		known.PassageID, known.User = "r", "bob"
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{known}))
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "d", []string{"q", "r"}))
		wantKnown("when another has it", 1)
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "d", nil))
		wantKnown("when it was deleted", 0)
	})
	// This is the initial state of every library: no index or collection exists yet.
	t.Run("index without vectors is empty", func(t *testing.T) {
		t.Parallel()
		if hits := mustSearch(t, open(t), alice, []float32{1, 0}, nil, 5); len(hits) > 0 {
			t.Errorf("hits = %+v", hits)
		}
	})
	// A wrong configuration must not damage existing data.
	t.Run("other dimensions are rejected", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0)}))
		// A store may have cached its vectors for a search before the wrong ones arrive.
		mustSearch(t, vs, alice, []float32{1, 0}, nil, 1)
		wantCode(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{vector("b", "d", 1, 0, 0)}), chat.CodeInvalid)
		// A rejected call must store nothing.
		wantCode(t, "Upsert of a mixture", vs.Upsert(
			t.Context(), []corpus.Vector{vector("b", "d", 1, 0), vector("c", "d", 1)},
		), chat.CodeInvalid)
		_, err := vs.SearchVectors(t.Context(), alice, []float32{1, 0, 0}, nil, 1)
		wantCode(t, "SearchVectors", err, chat.CodeInvalid)
		// Existing vectors must still be found.
		wantStrings(t, "hits", ids(mustSearch(t, vs, alice, []float32{1, 0}, nil, 5)), []string{"a"})
	})
	// Stores cache vectors for searches, and must invalidate changed ones.
	t.Run("search sees each change immediately", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		find := func(what string, want ...string) {
			t.Helper()
			wantStrings(t, what, ids(mustSearch(t, vs, alice, []float32{1, 0}, nil, 10)), want)
		}
		find("empty")
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{
			vector("a", "d1", 0.8, 0.6), vector("b", "d1", 0.6, 0.8), vector("c", "d2", 0, 1),
		}))
		find("stored", "a", "b", "c")
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{vector("c", "d2", 1, 0), vector("d", "d2", 0, -1)}))
		// "c" moved onto the query, and "d" is orthogonal to it.
		find("one replaced, one new", "c", "a", "b", "d")
		// The list names the passages to keep: "b" stays and "a" is deleted. Without a list all are deleted.
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "d1", []string{"b", "unknown"}))
		find("one deleted, one kept", "c", "b", "d")
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "d2", nil))
		find("a document deleted", "b")
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "unknown", nil))
		find("an unknown document deleted", "b")
	})
	// This happens when the model is replaced with one of another dimension.
	t.Run("empty index accepts another dimension", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0)}))
		mustSearch(t, vs, alice, []float32{1, 0}, nil, 1)
		mustDo(t, "DeleteVectors", vs.DeleteVectors(t.Context(), "d", nil))
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{vector("a", "d", 1, 0, 0)}))
		wantStrings(t, "hits", ids(mustSearch(t, vs, alice, []float32{1, 0, 0}, nil, 1)), []string{"a"})
	})
	// The hostile names are filter expressions of Milvus.
	t.Run("search is limited to vectors in scope", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		mine, other, theirs := vector("mine", "d1", 1, 0), vector("other", "d2", 1, 0), vector("theirs", "d3", 1, 0)
		other.Namespace, theirs.User = "other", bob.User
		mustDo(t, "Upsert", vs.Upsert(t.Context(), []corpus.Vector{mine, other, theirs}))
		for _, tt := range []struct {
			name  string
			scope chat.Scope
			docs  []string
			want  []string
		}{
			{"all of a user's namespaces", alice, nil, []string{"mine", "other"}},
			{"one namespace", alice.In("other"), nil, []string{"other"}},
			{"two namespaces", chat.Scope{
				User: alice.User, Namespaces: []string{"other", chat.DefaultNamespace},
			}, nil, []string{"mine", "other"}},
			{"a hostile namespace", alice.In(`other" or user == "bob`), nil, nil},
			{"another user", bob, nil, []string{"theirs"}},
			{"one document", alice, []string{"d2"}, []string{"other"}},
			{"another user's document", alice, []string{"d3"}, nil},
			{"a hostile document", alice, []string{`d1"] or user == "bob`}, nil},
		} {
			wantStrings(t, tt.name, ids(mustSearch(t, vs, tt.scope, []float32{1, 0}, tt.docs, 10)), tt.want)
		}
	})
	// Forty writes, with a deletion after each tenth, concurrent with searches. With -race this finds data races;
	// without it, partially written vectors, whose cosine would not be 1.
	t.Run("concurrent searches and writes", func(t *testing.T) {
		t.Parallel()
		vs := open(t)
		done := make(chan error, 1)
		go func() {
			for i := range 40 {
				err := vs.Upsert(
					t.Context(), []corpus.Vector{vector(fmt.Sprintf("p%d", i), fmt.Sprintf("d%d", i%4), 1, 0)},
				)
				if err == nil && i%10 == 9 {
					err = vs.DeleteVectors(t.Context(), fmt.Sprintf("d%d", i%4), nil)
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		for {
			for _, hit := range mustSearch(t, vs, alice, []float32{1, 0}, nil, 50) {
				if math.Abs(hit.Cosine-1) > 1e-6 {
					t.Fatalf("hit %+v", hit)
				}
			}
			select {
			case err := <-done:
				mustDo(t, "write", err)
				return
			default:
			}
		}
	})
}

// vector returns a passage's vector in alice's default namespace. The values must have length 1.
func vector(passage, document string, values ...float32) corpus.Vector {
	return corpus.Vector{
		PassageID: passage, DocumentID: document, Namespace: chat.DefaultNamespace, User: alice.User, Values: values,
	}
}

// randomUnit returns a vector of length 1 in a random direction: normal numbers have no preferred one.
func randomUnit(random *rand.Rand, dimension int) []float32 {
	v := make([]float32, dimension)
	var sum float64
	for i := range v {
		v[i] = float32(random.NormFloat64())
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

// dot returns the exact cosine of two unit vectors, except for float64 rounding.
func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// ids returns the passages of hits, in order.
func ids(hits []corpus.Hit) (list []string) {
	for _, hit := range hits {
		list = append(list, hit.PassageID)
	}
	return list
}

// mustSearch returns at most k nearest vectors; no documents means all. It fails the test on an error.
func mustSearch(
	t *testing.T, vs corpus.Vectors, s chat.Scope, query []float32, documents []string, k int,
) []corpus.Hit {
	t.Helper()
	hits, err := vs.SearchVectors(t.Context(), s, query, documents, k)
	if err != nil {
		t.Fatalf("SearchVectors: %v", err)
	}
	return hits
}
