package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"footnote/corpus"
	"footnote/corpus/blobs"
	"footnote/corpus/extract"
	"footnote/corpus/extract/files"
	"footnote/corpus/extract/worker"
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
	reader, err := worker.New(worker.Config{Command: []string{os.Args[0], "extract-worker"}, CacheDir: filepath.Join(os.TempDir(), "footnote-test-wasm")})
	if err != nil {
		t.Fatal(err)
	}
	originals, err := blobs.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	library, err := corpus.NewLibrary(corpus.Config{
		Documents: db.Documents(), Lexical: db.Lexical(), Queue: db.Queue(), Blobs: originals,
		Formats: extract.Formats, Extractor: reader, Renderer: reader,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- library.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, reader.Close()); err != nil {
			t.Error(err)
		}
	})
	return library
}
