package ocr_test

import (
	"os"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus/extract/ocr"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

// newReader returns a Reader with worker processes and letters as the recogniser.
func newReader(t testing.TB, letters ocr.Recogniser) (*ocr.Reader, *worker.Pool) {
	t.Helper()
	pool := newPool(t, os.Args[0])
	return ocr.New(pool, letters), pool
}

// newPool starts the workers of a program.
func newPool(t testing.TB, program string) *worker.Pool {
	t.Helper()
	return workertest.Open(t, worker.Config{
		// a long timeout, so that a slow machine doesn't fail the test
		Command: workertest.Command(program), DrawLimit: time.Minute,
	})
}
