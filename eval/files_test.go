package eval_test

import (
	"compress/gzip"
	"os"
	"strings"
	"testing"

	"footnote/eval"
)

// Both halves ask ten facts of a file of each kind, of files that the script makes.
// HTML is there to compare, and is asked half as many.
func TestTenFactsAreAskedOfEachKindInEachHalf(t *testing.T) {
	t.Parallel()
	open, err := os.Open("files/open.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	packed, err := os.Open("files/held.tsv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	held, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile("files/make.sh")
	if err != nil {
		t.Fatal(err)
	}
	halves := map[string][]eval.Question{}
	if halves["open"], err = eval.Parse(open); err != nil {
		t.Fatal(err)
	}
	if halves["held"], err = eval.Parse(held); err != nil {
		t.Fatal(err)
	}
	for half, questions := range halves {
		facts := map[string]int{}
		for _, q := range questions {
			if !q.Refuse() {
				facts[q.Kind]++
			}
			for _, p := range q.Passages {
				if name, _, _ := strings.Cut(p.Document, "."); !strings.Contains(string(script), name+".") {
					t.Errorf("%s asks of %s, which make.sh does not make", half, p.Document)
				}
			}
		}
		if len(facts) != 11 {
			t.Errorf("%s asks of %d kinds, not 11", half, len(facts))
		}
		for kind, n := range facts {
			want := 10
			if kind == "html" {
				want = 5
			}
			if n != want {
				t.Errorf("%s asks %d facts of %s, not %d", half, n, kind, want)
			}
		}
	}
}
