package tools

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/corpus"
)

func keysOf(passages []corpus.Passage, limit int, focus string) (out []string) {
	for _, s := range keySentences(passages, "en", limit, focus) {
		out = append(out, s.text)
	}
	return out
}

// Key sentences are statements of different sections; what frames a letter is none.
func TestKeySentencesComeFromDifferentSections(t *testing.T) {
	letter := []corpus.Passage{
		{Section: "Letter", Text: "Dear Ms Whitlock and dear Mr Prowse,\n\nThe rent for the flat will be £882 a " +
			"month from 1 June 2024. The rent for the flat was £840 a month from 1 June 2023.\n\n" +
			"The rent is the rent of the flat and of nothing else at all."},
		{Section: "Repairs", Text: "Rent, boiler, flat: what of the rent of the flat is for the boiler of the flat?! " +
			"The boiler of the flat will be renewed before 30 September."},
		{Section: "End", Text: "Please answer by 15 May so that I can plan the works.\n\n" +
			"Kind regards, Alan Prowse, Mill Rise"},
	}
	got := keysOf(letter, 3, "")
	want := []string{
		"The rent for the flat will be £882 a month from 1 June 2024.",
		"The boiler of the flat will be renewed before 30 September.",
		"Please answer by 15 May so that I can plan the works.",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the key sentences are %q, want %q", got, want)
	}
	if got := keysOf(letter, 1, "boiler"); !slices.Equal(got, want[1:2]) {
		t.Errorf("about the boiler it is %q, want %q", got, want[1:2])
	}
	if got := keysOf(nil, 3, ""); len(got) > 0 {
		t.Errorf("of nothing they are %q, want none", got)
	}
}

// Where no sentence ends, lines are taken.
func TestLinesAreKeySentencesWhereThereAreNoOthers(t *testing.T) {
	list := []corpus.Passage{{
		Text: "- Student tariff with 100 Mbit/s for £24 a month\n\n- Plus tariff with 250 Mbit/s for £32 a month",
	}}
	if got := keysOf(list, 2, ""); len(got) != 2 {
		t.Errorf("the key sentences are %q, want both lines", got)
	}
}
