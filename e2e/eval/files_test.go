package eval_test

import (
	"compress/gzip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/cmd/footnote/eval/judge"
)

// Both halves ask ten facts of a file of each kind that people write in, and five of those for programs and of HTML,
// which is there to compare; of files that the script makes.
func TestFactsAreAskedOfEachKindInEachHalf(t *testing.T) {
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
	halves := map[string][]judge.Question{}
	if halves["open"], err = judge.Parse(open); err != nil {
		t.Fatal(err)
	}
	if halves["held"], err = judge.Parse(held); err != nil {
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
		want := map[string]int{
			"docx": 10, "odt": 10, "rtf": 10, "epub": 10, "pptx": 10, "odp": 10, "xlsx": 10, "ods": 10, "eml": 10,
			"scan": 10, "html": 5, "mbox": 5, "ipynb": 5, "json": 5, "yaml": 5, "py": 5, "ics": 5, "vcf": 5, "csv": 5,
			"jpg": 5,
		}
		if diff := cmp.Diff(want, facts); diff != "" {
			t.Errorf("facts of the %s half (-want +got):\n%s", half, diff)
		}
	}
}

// TestLabelsAreRebuilt runs the tests of the programs that collect and read labels.
func TestLabelsAreRebuilt(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("no python3")
		}
		t.Skip("no python3")
	}
	tests := exec.CommandContext(t.Context(), python, "-B", "-m", "unittest", "-b", "reader_test")
	tests.Dir = "reader"
	if said, err := tests.CombinedOutput(); err != nil {
		t.Errorf("the tests of e2e/eval/reader: %v\n%s", err, said)
	}
}
