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
		if len(models) != 2 {
			t.Errorf("got %d models in the reference, want 2", len(models))
		}
	}
}

func TestPositionsOfXLMRBeginBehindPadding(t *testing.T) {
	t.Parallel()
	if e := open(t, Config{Dir: "testdata/xlm-roberta"}); e.folder.window != 38 {
		t.Errorf("got a window of %d tokens with 40 positions, want 38", e.folder.window)
	}
}

// The kinds are those of MPNet: floor(8 + 8·log(d/8)/log(16)) from 8 on.
func TestDistancesOfMPNetHaveTheirKinds(t *testing.T) {
	t.Parallel()
	for distance, want := range map[int]int{
		0: 0, -1: 1, -7: 7, -8: 8, -11: 8, -12: 9, -15: 9, -16: 10, -22: 10, -23: 11, -31: 11, -32: 12, -45: 12,
		-46: 13, -63: 13, -64: 14, -90: 14, -91: 15, -128: 15, -500: 15, 1: 17, 7: 23, 8: 24, 64: 30, 91: 31, 30000: 31,
	} {
		if got := distanceBucket(distance); got != want {
			t.Errorf("got the kind %d for a distance of %d, want %d", got, distance, want)
		}
	}
}
