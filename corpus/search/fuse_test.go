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
				t.Errorf("second score = %f, want 0.8", out[1].Score)
			}
		})
	}
}

func TestNonsenseKeepsTextShape(t *testing.T) {
	for text, want := range map[string]string{
		"Rent of mill 12?": "Sfou pg njmm 12?", "ZZ zz": "YY yy", "мель": "нжмэ", "磨坊": "磩坋",
		"2024-05": "2024-05", "": "",
	} {
		if got := Nonsense(text); got != want {
			t.Errorf("Nonsense(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestDoubtIncreasesWithNonsenseSimilarity(t *testing.T) {
	s := Scale{far: 0.1, near: 0.5, middle: 0.3, slope: 20}
	for cosine, want := range map[float64]float64{-1: 0, 0.1: 0.018, 0.3: 0.5, 0.5: 0.982, 1: 1} {
		if got := s.Doubt(cosine); got < want-1e-3 || got > want+1e-3 {
			t.Errorf("Doubt(%v) = %v, want %v", cosine, got, want)
		}
	}
}

func TestDoubtKeepsLexicalOrder(t *testing.T) {
	fits := []Fit{{ID: "near", Words: 0.2, Meaning: 1.5}, {ID: "worded", Words: 0.8, Meaning: 0.5}}
	for doubt, want := range map[float64]string{0: "near", 1: "worded"} {
		if got := Fuse(fits, doubt); got[0].ID != want {
			t.Errorf("with a doubt of %v %q is first, want %q", doubt, got[0].ID, want)
		}
	}
	far, near := -0.5, 0.9
	if WithMeaning(0.5, &far, 1) != 0.5 || WithMeaning(0.5, &near, 1) != 0.5 {
		t.Error("cosine without information changes the score, want 0.5")
	}
}

func TestTyposCountsTranspositionsOnce(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"roof", "roof", 2, 0}, {"roof", "rofo", 2, 1}, {"roof", "rof", 2, 1}, {"roof", "proof", 2, 1},
		{"elefant", "elephant", 2, 2}, {"roof", "cellar", 2, 3}, {"", "ab", 2, 2}, {"首都", "首部", 2, 1},
	} {
		if got := Typos(tt.a, tt.b, tt.limit); got != tt.want && (got <= tt.limit || tt.want <= tt.limit) {
			t.Errorf("Typos(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestTyposDifferFromOtherWords(t *testing.T) {
	for _, tt := range []struct {
		typed, word string
		want        Certainty
	}{
		{"rihgts", "rights", SurelyMeant}, {"rofo", "roof", SurelyMeant}, {"lemmon", "lemon", SurelyMeant},
		{"boiller", "boiler", SurelyMeant}, {"accomodate", "accommodate", SurelyMeant}, {"rpof", "roof", MaybeMeant},
		{"repaird", "repairs", SurelyMeant}, {"seperate", "separate", SurelyMeant}, {"tenent", "tenant", SurelyMeant},
		{"maintainance", "maintenance", SurelyMeant}, {"elefant", "elephant", SurelyMeant},
		{"крыпа", "крыша", NotMeant}, {"крвша", "крыша", MaybeMeant},
		{"clau", "claus", MaybeMeant}, {"planet", "plant", MaybeMeant}, {"plugh", "plug", MaybeMeant},
		{"world", "would", NotMeant}, {"bread", "break", NotMeant}, {"weather", "washer", NotMeant},
		{"flibber", "flicker", NotMeant}, {"wireguard", "wiregauge", NotMeant}, {"totp", "toto", MaybeMeant},
	} {
		if got, _ := TypoOf(tt.typed, tt.word); got != tt.want {
			t.Errorf("%q is meant by %q: got %d, want %d", tt.word, tt.typed, got, tt.want)
		}
	}
}
