package corpus_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/bert"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// TestThePassagesThatAnswerReachTheDefaultScore asks the everyday questions of the evaluation, whose documents have
// nothing to do with what the scale is measured by. -v prints the shares.
func TestThePassagesThatAnswerReachTheDefaultScore(t *testing.T) {
	t.Parallel()
	const fetched, asked, score = "../.cache/embedding/all-MiniLM-L6-v2", "../e2e/eval/everyday/", 0.7
	if _, err := os.Stat(fetched); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the embedding model is missing: %v", err)
		}
		t.Skip("no embedding model: make embedding fetches it")
	}
	e, err := bert.Open(bert.Config{Dir: fetched})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close the model: %v", err)
		}
	})
	sh := &shelf{librarytest.Open(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Vectors, c.Embedder = db.Vectors(e.Model()), e
	})}
	sh.start(t)
	files, err := filepath.Glob(asked + "open/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents of the evaluation, %v; want some", len(files), err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sh.add(t, filepath.Base(name), string(body))
	}
	sh.wait(t)
	questions, err := os.ReadFile(asked + "open.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var answering, near, others, far, byCosine float64
	for line := range strings.Lines(string(questions)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 5 || fields[1] == "-" || strings.Contains(fields[4], " → ") {
			continue
		}
		documents, quotes := strings.Split(fields[1], " + "), strings.Split(fields[2], " + ")
		best := corpus.Result{Similarity: new(float64), Cosine: new(float64)}
		for _, r := range sh.search(t, corpus.Query{Text: fields[4], Mode: corpus.ModeSemantic, Limit: 50}).Results {
			switch answers := slices.ContainsFunc(quotes, func(quote string) bool {
				return strings.Contains(r.Passage.Text, quote) && slices.Contains(documents, r.Document.Filename)
			}); {
			case answers && *r.Similarity > *best.Similarity:
				best = r
			case !answers && r.Score >= score:
				far, others = far+1, others+1
			case !answers:
				others++
			}
		}
		answering++
		if best.Score >= score {
			near++
		}
		if *best.Cosine >= score {
			byCosine++
		}
	}
	t.Logf("of %.0f best passages that answer %.0f have %v or more, %.0f a cosine of so much; of %.0f others %.0f",
		answering, near, score, byCosine, others, far)
	if near/answering < 0.6 || far/others > 0.1 {
		t.Errorf("%.0f of %.0f passages that answer and %.0f of %.0f others have %v or more, want at least 60 %% and "+
			"at most 10 %%", near, answering, far, others, score)
	}
}
