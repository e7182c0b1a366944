package bert

import (
	"testing"
)

// testdata/encoders.py writes the reference, an implementation of its own.
func TestVectorsOfOtherEncodersAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	var reference []struct {
		Model, Text string
		Vector      []float32
	}
	readTestdata(t, "encoders.json", &reference)
	for _, floats := range []bool{true, false} {
		models := map[string]*Embedder{}
		for _, r := range reference {
			if models[r.Model] == nil {
				models[r.Model] = open(t, Config{Dir: "testdata/" + r.Model, Float32: floats})
			}
			got, err := models[r.Model].Embed(t.Context(), []string{r.Text})
			if err != nil {
				t.Fatal(err)
			}
			least := 0.99
			if floats {
				least = 0.999999
			}
			if near := cosine(t, got[0], r.Vector); near < least {
				t.Errorf("%s, floats %v, %q: got a vector with cosine %.7f to the reference, want %g", r.Model, floats,
					r.Text, near, least)
			}
		}
		if len(models) != 1 {
			t.Errorf("got %d models in the reference, want 1", len(models))
		}
	}
}

func TestPositionsOfXLMRBeginBehindPadding(t *testing.T) {
	t.Parallel()
	if e := open(t, Config{Dir: "testdata/xlm-roberta"}); e.folder.window != 38 {
		t.Errorf("got a window of %d tokens with 40 positions, want 38", e.folder.window)
	}
}
