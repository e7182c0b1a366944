package server

import (
	"os"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

// newLibrary is a library at work over a real database and real files, until the test ends.
func newLibrary(t testing.TB, db *sqlite.DB) *corpus.Library {
	t.Helper()
	reader := workertest.Open(t, worker.Config{}) // closed after the library's work has ended
	library := librarytest.Over(t, db, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
		c.Extractor, c.Renderer = reader, reader
	})
	library.Start(t)
	return library.Library
}
