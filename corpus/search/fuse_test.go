package search

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFuse(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fits  []Fit
		want  []string
		first float64 // score
	}{
		{"all words and the same meaning are the best possible", []Fit{{ID: "b", Words: 0.9, Meaning: 1},
			{ID: "a", Words: 1, Meaning: 1}}, []string{"a", "b"}, 1},
		{"words that fit nothing well leave the order to the meaning", []Fit{{ID: "a", Words: 0.1, Meaning: 0.2},
			{ID: "b", Words: 0.05, Meaning: 0.9}}, []string{"b", "a"}, 0.32527740},
		{"words that the best passage lacks too don't outweigh the meaning", []Fit{{ID: "a", Words: 0.3, Meaning: 0.3},
			{ID: "b", Words: 0.1, Meaning: 0.6}}, []string{"b", "a"}, 0.24560197},
		{"meaning that tells nothing apart leaves it to the words", []Fit{{ID: "a", Words: 0.3, Meaning: 0.8},
			{ID: "b", Words: 0.7, Meaning: 0.75}}, []string{"b", "a"}, 0.64318031},
		{"a passage whose meaning is not known fits by its words", []Fit{{ID: "a", Words: 0.6, Meaning: 0.5},
			{ID: "b", Words: 0.6, Unknown: true}}, []string{"b", "a"}, 0.51209270},
		{"more than each word once comes first, at 1",
			[]Fit{{ID: "a", Words: 1, Unknown: true}, {ID: "b", Words: 1.25, Unknown: true}}, []string{"b", "a"}, 1},
		{"ties go to the smaller id", []Fit{{ID: "b", Words: 0.5, Unknown: true},
			{ID: "a", Words: 0.5, Unknown: true}}, []string{"a", "b"}, 0.5},
		{"nothing gives nothing", nil, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			out := Fuse(tt.fits, 0)
			for _, f := range out {
				got = append(got, f.ID)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("order (-want +got):\n%s", d)
			}
			if len(out) > 0 && (out[0].Score < tt.first-1e-6 || out[0].Score > tt.first+1e-6) {
				t.Errorf("got first score %f, want %f", out[0].Score, tt.first)
			}
			if len(out) > 1 && tt.fits[1].Words > 1 && out[1].Score != 0.8 {
				t.Errorf("got second score %f, want 0.8: no tie of what is not equal", out[1].Score)
			}
		})
	}
}
