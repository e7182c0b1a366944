package pdf_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"footnote/corpus"
	"footnote/corpus/extract/doctext"
	"footnote/corpus/extract/files"
	"footnote/corpus/extract/pdf/pdftest"
	"footnote/corpus/extract/worker"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "extract-worker" {
		if err := files.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// compiled is where all tests find PDFium compiled: outside the test's own directory, so that it is done once.
func compiled() string { return filepath.Join(os.TempDir(), "footnote-test-wasm") }

func newReader(t testing.TB, change func(*worker.Config)) *worker.Pool {
	t.Helper()
	cfg := worker.Config{Command: []string{os.Args[0], "extract-worker"}, CacheDir: compiled()}
	if change != nil {
		change(&cfg)
	}
	r, err := worker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
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
