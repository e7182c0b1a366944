package search

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFuse(t *testing.T) {
	ranked := func(weight float64, ids ...string) List { return List{ids, weight} }
	for _, tt := range []struct {
		name  string
		lists []List
		want  []string
		first float64 // score
	}{
		{"first everywhere is the best possible", []List{ranked(2, "a", "b"), ranked(1, "a", "c")},
			[]string{"a", "b", "c"}, 1},
		{"twice second beats once first", []List{ranked(1, "x", "b"), ranked(1, "y", "b")},
			[]string{"b", "x", "y"}, 4.0 / 5},
		{"the heavier ranking goes first", []List{ranked(1, "a"), ranked(2, "b")}, []string{"b", "a"}, 2.0 / 3},
		{"first by words stays before second by words and first by meaning", // 2/4 + 1/5 against 2/5 + 1/4
			[]List{ranked(2, "a", "b"), ranked(1, "b", "a")}, []string{"a", "b"}, (2.0/4 + 1.0/5) / (3.0 / 4)},
		{"one ranking keeps its order", []List{ranked(1, "c", "a", "b")}, []string{"c", "a", "b"}, 1},
		{"ties go to the smaller id", []List{ranked(1, "b"), ranked(1, "a")}, []string{"a", "b"}, 0.5},
		{"nothing gives nothing", []List{ranked(2), ranked(1)}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			out := Fuse(tt.lists...)
			for _, f := range out {
				got = append(got, f.ID)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("order (-want +got):\n%s", d)
			}
			if len(out) > 0 && math.Abs(out[0].Score-tt.first) > 1e-9 {
				t.Errorf("got first score %f, want %f", out[0].Score, tt.first)
			}
		})
	}
}
