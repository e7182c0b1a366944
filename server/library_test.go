package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/extract"
	"footnote/corpus/extract/pdf"
	"footnote/sql/sqlite"
)

// TestMain lets the test binary be its own worker for PDFs.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "pdf-worker" {
		if err := pdf.Worker(context.Background(), os.Stdin, os.Stdout); err != nil {
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
	reader, err := pdf.New(pdf.Config{Command: []string{os.Args[0], "pdf-worker"}, CacheDir: filepath.Join(os.TempDir(), "footnote-test-wasm")})
	if err != nil {
		t.Fatal(err)
	}
	library, err := corpus.NewLibrary(corpus.Config{
		Documents: db.Documents(), Lexical: db.Lexical(), Queue: db.Queue(), Blobs: folder(t.TempDir()),
		Extractor: extract.New(reader), Renderer: reader,
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

// folder keeps originals as files under their hash.
type folder string

func (f folder) Put(_ context.Context, r io.Reader, limit int64) (string, int64, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return "", 0, err
	}
	if int64(len(data)) > limit {
		return "", 0, &chat.Error{Code: chat.CodeTooLarge, Message: "too large"}
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	return name, int64(len(data)), os.WriteFile(filepath.Join(string(f), name), data, 0o600)
}

func (f folder) Open(_ context.Context, sha256 string) (io.ReadSeekCloser, error) {
	file, err := os.Open(filepath.Join(string(f), sha256))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &chat.Error{Code: chat.CodeNotFound, Message: "gone"}
	}
	return file, err
}

func (f folder) Delete(_ context.Context, sha256 string) error {
	return os.Remove(filepath.Join(string(f), sha256))
}
