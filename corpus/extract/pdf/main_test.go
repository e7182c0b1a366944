package pdf_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

func newReader(t testing.TB, change func(*worker.Config)) *worker.Pool {
	t.Helper()
	var cfg worker.Config
	if change != nil {
		change(&cfg)
	}
	return workertest.Open(t, cfg)
}

func mustExtract(t testing.TB, r *worker.Pool, data []byte) corpus.Extracted {
	t.Helper()
	x, err := r.Extract(t.Context(), pdftest.Write(t, data), nil)
	if err != nil {
		t.Fatalf("Extract: %v, want no error", err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatalf("extracted text breaks a promise: %v, want no error", err)
	}
	return x
}

// outlineOf lists the blocks: kind, level and text.
func outlineOf(x corpus.Extracted) []string {
	runes := []rune(x.Text)
	var out []string
	for _, b := range x.Blocks {
		kind := string(b.Kind)
		if b.Level > 0 {
			kind += fmt.Sprint(b.Level)
		}
		out = append(out, kind+": "+string(runes[b.Start:b.End]))
	}
	return out
}
