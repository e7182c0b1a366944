// Package embedtest provides a deterministic embedder for tests and benchmarks. It needs no model: texts that share
// words and parts of words are similar.
package embedtest

import (
	"context"
	"hash/fnv"
	"math"

	"github.com/footnote/footnote/text"
)

// Hashing embeds texts by feature hashing of their words and trigrams. The zero value has 384 dimensions. It is
// safe for concurrent use. Its vectors are predictable and the same on each machine, as search tests require.
type Hashing struct {
	Dimensions int
}

// Model returns the name of the embedder.
func (h Hashing) Model() string { return "hashing" }

// Embed returns a unit vector for each text.
func (h Hashing) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = h.vector(t)
	}
	return out, nil
}

// EmbedQuery returns the unit vector of a query, which equals that of a passage with the same text.
func (h Hashing) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	return h.vector(query), ctx.Err()
}

// vector sums the features of a text. The weight of stop words is a tenth, and that of trigrams half of their word,
// with "^" and "$" as its ends.
func (h Hashing) vector(s string) []float32 {
	n := h.Dimensions
	if n == 0 {
		n = 384
	}
	v := make([]float32, n)
	for _, term := range text.Terms(s, "") {
		weight := float32(1)
		if text.IsStop(term, "en") {
			weight = 0.1
		}
		add(v, term, weight)
		r := []rune("^" + term + "$")
		for i := 0; i+3 <= len(r); i++ {
			add(v, string(r[i:i+3]), weight/2)
		}
	}
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		v[0], square = 1, 1
	}
	length := float32(math.Sqrt(square))
	for i := range v {
		v[i] /= length
	}
	return v
}

// add adds a feature with a sign from its hash, so that colliding features cancel out on average.
func add(v []float32, feature string, weight float32) {
	h := fnv.New64a()
	h.Write([]byte(feature))
	sum := h.Sum64()
	if sum>>63 == 1 {
		weight = -weight
	}
	v[sum%uint64(len(v))] += weight
}
