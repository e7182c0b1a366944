package ocr_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"footnote/corpus/extract/files"
	"footnote/corpus/extract/ocr"
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

// newReader reads files in worker processes, and pictures with letters.
func newReader(t testing.TB, letters ocr.Letters) (*ocr.Reader, *worker.Pool) {
	t.Helper()
	pool := newPool(t, os.Args[0])
	return ocr.New(pool, letters), pool
}

// newPool starts a program's workers.
func newPool(t testing.TB, program string) *worker.Pool {
	t.Helper()
	pool, err := worker.New(worker.Config{
		Command: []string{program, "extract-worker"}, CacheDir: filepath.Join(os.TempDir(), "footnote-test-wasm"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	return pool
}
