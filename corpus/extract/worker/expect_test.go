package worker_test

import (
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// counted makes a reader whose workers leave a file each, and returns how many have started.
func counted(t *testing.T, change func(*worker.Config)) (r *worker.Pool, workers func() int) {
	t.Helper()
	worker.Unconfined(t) // the files lie where a confined one sees nothing
	dir := t.TempDir()
	r = newReader(t, func(c *worker.Config) {
		script := filepath.Join(dir, "worker")
		body := "#!/bin/sh\n: > " + dir + "/$$.started\nexec " + strings.Join(c.Command, " ") + "\n"
		if err := os.WriteFile(script, []byte(body), 0o700); err != nil {
			t.Fatal(err)
		}
		c.Command = []string{script}
		if change != nil {
			change(c)
		}
	})
	return r, func() int {
		found, err := filepath.Glob(filepath.Join(dir, "*.started"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
}

// come waits until the worker that was expected is there.
func come(r *worker.Pool) { r.AwaitExpected() }

func TestAnExpectedPageFindsItsWorkerReady(t *testing.T) {
	reader, workers := counted(t, nil)
	for range 5 {
		reader.Expect()
	}
	come(reader)
	reader.Expect() // it waits already
	come(reader)
	if n := workers(); n != 1 {
		t.Errorf("%d workers started, want 1", n)
	}
	if !reader.HasOneReady() {
		t.Error("no worker waits with PDFium loaded")
	}
	drawPage(t, reader, pdftest.Write(t, pdftest.Many(2)), 1, 400)
	if n := workers(); n != 1 {
		t.Errorf("%d workers started for an expected page, want 1", n)
	}
}

func TestAPageThatCannotWaitTakesTheComingWorker(t *testing.T) {
	reader, workers := counted(t, nil)
	file := pdftest.Write(t, pdftest.Many(2))
	reader.Expect()
	drawPage(t, reader, file, 1, 400)
	come(reader)
	if n := workers(); n != 1 {
		t.Errorf("%d workers started, want 1", n)
	}
}

func TestPDFiumIsCompiledOnce(t *testing.T) {
	dir := t.TempDir()
	reader, _ := counted(t, func(c *worker.Config) { c.CacheDir = dir })
	file := pdftest.Write(t, pdftest.Many(2))
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			if _, err := reader.Extract(t.Context(), file, nil); err != nil {
				t.Error(err)
			}
		})
	}
	reader.Expect()
	all.Wait()
	come(reader)
	if loaded, tokens := reader.Loaded(); !loaded || tokens != 1 {
		t.Errorf("loaded %v, tokens %d, want 1", loaded, tokens)
	}
}

func TestAClosedReaderExpectsNothing(t *testing.T) {
	reader, workers := counted(t, nil)
	reader.Expect()
	if err := reader.Close(); err != nil { // in the middle of the start
		t.Fatal(err)
	}
	n := workers()
	reader.Expect()
	come(reader)
	if workers() != n {
		t.Error("a closed reader started a worker")
	}
}
