package search

import "testing"

func TestNonsenseKeepsTheShapeOfAText(t *testing.T) {
	for text, want := range map[string]string{
		"Rent of mill 12?": "Sfou pg njmm 12?", "ZZ zz": "YY yy", "мель": "нжмэ", "磨坊": "磩坋",
		"2024-05": "2024-05", "": "",
	} {
		if got := Nonsense(text); got != want {
			t.Errorf("Nonsense(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestDoubtRisesWithTheNearnessOfNonsense(t *testing.T) {
	s := Scale{far: 0.1, near: 0.5, middle: 0.3, slope: 20}
	for cosine, want := range map[float64]float64{-1: 0, 0.1: 0.018, 0.3: 0.5, 0.5: 0.982, 1: 1} {
		if got := s.Doubt(cosine); got < want-1e-3 || got > want+1e-3 {
			t.Errorf("Doubt(%v) = %v, want %v", cosine, got, want)
		}
	}
}

func TestDoubtLeavesTheOrderToTheWords(t *testing.T) {
	fits := []Fit{{ID: "near", Words: 0.2, Meaning: 1.5}, {ID: "worded", Words: 0.8, Meaning: 0.5}}
	for doubt, want := range map[float64]string{0: "near", 1: "worded"} {
		if got := Fuse(fits, doubt); got[0].ID != want {
			t.Errorf("with a doubt of %v %q is first, want %q", doubt, got[0].ID, want)
		}
	}
	far, near := -0.5, 0.9
	if WithMeaning(0.5, &far, 1) != 0.5 || WithMeaning(0.5, &near, 1) != 0.5 {
		t.Error("the cosine counts although it says nothing")
	}
}
