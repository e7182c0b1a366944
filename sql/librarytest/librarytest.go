// Package librarytest opens libraries with a real database and real files for tests. It is the fixture of all
// packages that need documents. Documents are parsed in the test's own process; PDFs need a reader that the test
// configures.
package librarytest

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/blobs"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/sql/sqlite"
)

// Library is a library over SQLite, as in a server, with access to its database and originals.
type Library struct {
	*corpus.Library
	DB    *sqlite.DB
	Blobs corpus.Blobs // the originals, without the wrappers of change
}

// Open opens a library in a directory, in footnote.db and blobs. It closes the database when the test ends. change,
// if not nil, adjusts the configuration. The background work begins with Start.
func Open(t testing.TB, dir string, change func(*corpus.Config, *sqlite.DB)) *Library {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "footnote.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open the database: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close the database: %v", err)
		}
	})
	return Over(t, db, filepath.Join(dir, "blobs"), change)
}

// Over opens a library over a database that the caller closes, with originals in a folder. Tests use it for two
// libraries over one database, like two replicas.
func Over(t testing.TB, db *sqlite.DB, originals string, change func(*corpus.Config, *sqlite.DB)) *Library {
	t.Helper()
	files, err := blobs.Open(originals)
	if err != nil {
		t.Fatalf("open the originals: %v", err)
	}
	reader := extract.New(nil, nil)
	cfg := corpus.Config{
		Documents: db.Documents(), Lexical: db.Lexical(), Blobs: files, Queue: db.Queue(), Formats: extract.Formats,
		Extractor: reader, Renderer: reader,
	}
	if change != nil {
		change(&cfg, db)
	}
	library, err := corpus.NewLibrary(cfg)
	if err != nil {
		t.Fatalf("NewLibrary: %v", err)
	}
	return &Library{Library: library, DB: db, Blobs: files}
}

// Start runs the background work until stop is called or the test ends. stop waits until it has ended and is
// idempotent.
func (l *Library) Start(t testing.TB) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("library's work: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// Put adds a file for the local user. The background work parses it.
func (l *Library) Put(t testing.TB, name, body string) corpus.Document {
	t.Helper()
	d, _, err := l.Add(t.Context(), corpus.Upload{User: chat.LocalUser, Filename: name, Body: strings.NewReader(body)})
	if err != nil {
		t.Fatalf("Add(%q): %v", name, err)
	}
	return d
}

// WaitRead waits until all added documents were indexed or have failed.
func (l *Library) WaitRead(t testing.TB) {
	t.Helper()
	if err := l.Wait(t.Context(), chat.Local, nil); err != nil {
		t.Fatalf("Wait: %v", err)
	}
}
