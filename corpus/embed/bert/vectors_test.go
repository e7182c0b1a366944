package bert

import (
	"encoding/binary"
	"math"
	"testing"
)

// testdata/reference.py writes the reference.
func TestVectorsAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	var reference []struct {
		Text   string `json:"text"`
		Vector []byte `json:"vector"`
	}
	readTestdata(t, "vectors.json", &reference)
	texts := make([]string, len(reference))
	for i, r := range reference {
		texts[i] = r.Text
	}
	for name, tt := range map[string]struct {
		floats bool
		least  float64
	}{"float32": {true, 0.999999}, "8 bits": {false, 0.99}} {
		t.Run(name, func(t *testing.T) {
			e := open(t, Config{Float32: tt.floats})
			vectors, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range reference {
				want := make([]float32, len(r.Vector)/4)
				for j := range want {
					want[j] = math.Float32frombits(binary.LittleEndian.Uint32(r.Vector[4*j:]))
				}
				query, err := e.EmbedQuery(t.Context(), r.Text)
				if err != nil {
					t.Fatal(err)
				}
				for side, got := range map[string][]float32{"passage": vectors[i], "query": query} {
					if near := cosine(t, got, want); near < tt.least {
						t.Errorf(
							"%q as a %s: got a vector with cosine %.7f to the reference, want %g",
							r.Text,
							side,
							near,
							tt.least,
						)
					}
					if length := cosine(t, got, got); math.Abs(length-1) > 1e-6 {
						t.Errorf("%q as a %s: got a vector of squared length %.7f, want 1", r.Text, side, length)
					}
				}
			}
		})
	}
}

func cosine(t *testing.T, a, b []float32) float64 {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("got vectors of %d and %d dimensions, want as many", len(a), len(b))
	}
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
