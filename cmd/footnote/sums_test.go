package main_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"footnote/eval"
)

// Sums over figures of documents are right with each figure's sentence cited, or refused: never wrong.
func TestSumsRestOnCitedFigures(t *testing.T) {
	t.Parallel()
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"sums.tsv": 12, "sums-held.tsv": 10} { // held: 9 when they were first asked
		got := command(t, "", nil, "eval", "agent", "--questions", filepath.Join(here, "questions", name),
			"--documents", filepath.Join(here, "sums"),
			"--with", "offline", "--json", "--data="+newDir(t))
		var out struct{ Reports []eval.Report }
		if err := json.Unmarshal([]byte(got.stdout), &out); err != nil || got.code != 0 || len(out.Reports) != 1 {
			t.Fatalf("%s: %v: %+v, want code 0", name, err, got)
		}
		right := 0
		for _, v := range out.Reports[0].Questions {
			switch {
			case v.Right && v.Kind == "sum":
				right++
			case !v.Right && !v.Refused:
				t.Errorf("%s: %s\n\t%s", name, v.Question, v.Answer)
			}
		}
		if right < least {
			t.Errorf("%s: %d sums are right, want %d", name, right, least)
		}
	}
}
