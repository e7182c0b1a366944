package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"
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
	if len(os.Args) > 1 && os.Args[1] == "curious-worker" {
		if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, curious{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "greedy-worker" {
		if err := worker.ServeByItself(context.Background(), os.Stdin, os.Stdout, greedy{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func newReader(t testing.TB, change func(*worker.Config)) *worker.Pool {
	t.Helper()
	cfg := worker.Config{Command: workertest.Command(os.Args[0]), Memory: 8 << 30}
	if change != nil {
		change(&cfg)
	}
	return workertest.Open(t, cfg)
}

func mustExtract(t testing.TB, r *worker.Pool, data []byte) corpus.Extracted {
	t.Helper()
	return mustRead(t, r, pdftest.Write(t, data))
}

func mustRead(t testing.TB, r *worker.Pool, f corpus.File) corpus.Extracted {
	t.Helper()
	x, err := r.Extract(t.Context(), f, nil)
	if err != nil {
		t.Fatalf("Extract: %v, want no error", err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatalf("extracted text breaks a promise: %v, want no error", err)
	}
	return x
}

// file stores a text as a file of that name.
func file(t testing.TB, name, text string) corpus.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return corpus.File{Path: path, Filename: name, MIME: "text/plain", Bytes: int64(len(text))}
}

func drawPage(t *testing.T, r *worker.Pool, f corpus.File, n, width int) {
	t.Helper()
	data, err := r.Render(t.Context(), f, n, width)
	if err != nil {
		t.Fatalf("Render: %v, want no error", err)
	}
	if _, err := png.Decode(bytes.NewReader(data)); err != nil {
		t.Fatalf("decode the picture: %v, want no error", err)
	}
}

func wantFailure(t *testing.T, err error, code string) {
	t.Helper()
	f, ok := errors.AsType[*corpus.Failure](err)
	if !ok || f.Code != code || !strings.HasSuffix(f.Detail, ".") {
		t.Errorf("error = %#v, want a *corpus.Failure %s with a sentence", err, code)
	}
}
