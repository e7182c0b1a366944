package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"footnote/corpus"
	"footnote/corpus/extract/files"
	"footnote/corpus/extract/worker"
	"footnote/corpus/librarytest"
	"footnote/sql/sqlite"
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

// newLibrary is a library at work over a real database and real files, until the test ends.
func newLibrary(t testing.TB, db *sqlite.DB) *corpus.Library {
	t.Helper()
	reader, err := worker.New(worker.Config{
		Command: []string{os.Args[0], "extract-worker"}, CacheDir: filepath.Join(os.TempDir(), "footnote-test-wasm"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // after the library's work has ended
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	library := librarytest.Over(t, db, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
		c.Extractor, c.Renderer = reader, reader
	})
	library.Start(t)
	return library.Library
}
