package worker_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

func TestAWorkerKilledInTheMiddleFailsOnlyItsFile(t *testing.T) {
	reader := newReader(t, nil)
	killed := false
	_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.Many(500)), func(done, total int) {
		if done < 100 || killed {
			return
		}
		killed = true
		reader.KillBusy()
	})
	if !errors.Is(err, corpus.ErrReaderDied) {
		t.Errorf("error = %v, want ErrReaderDied: it can be tried again", err)
	}
	mustExtract(t, reader, pdftest.Many(2))
}

func TestAWorkerThatDiedWhileIdleIsReplaced(t *testing.T) {
	reader := newReader(t, nil)
	mustExtract(t, reader, pdftest.Many(2))
	reader.KillIdle()
	mustExtract(t, reader, pdftest.Many(2))
}

func TestAnIdleWorkerEnds(t *testing.T) {
	reader := newReader(t, nil)
	mustExtract(t, reader, pdftest.Many(2))
	if state := reader.RetireIdle(); state == nil || !state.Success() {
		t.Errorf("the idle worker ended with %v, want success", state)
	}
	mustExtract(t, reader, pdftest.Many(2))
}

func TestASlowFileIsGivenUp(t *testing.T) {
	reader := newReader(t, func(c *worker.Config) { c.BatchLimit = time.Millisecond })
	_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.Many(2000)), nil)
	wantFailure(t, err, "timeout")
}

func TestCancellingEndsTheWork(t *testing.T) {
	reader := newReader(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := reader.Extract(ctx, pdftest.Write(t, pdftest.Many(2000)), func(done, _ int) {
		if done == 100 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

func TestDrawingDoesNotWaitForReading(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Many(100))
	drawn := false
	_, err := reader.Extract(t.Context(), file, func(done, total int) {
		if done < total && !drawn {
			drawn = true
			drawPage(t, reader, file, 1, 400) // reading stands still until the picture is there
		}
	})
	if err != nil || !drawn {
		t.Errorf("error %v, drawn %v", err, drawn)
	}
}

func TestTheWorkerSeesNoSecrets(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "canary")
	env, err := worker.Environment(t.Context(), workertest.Command(os.Args[0]))
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(env, "\n"); strings.Contains(all, "canary") {
		t.Errorf("the worker's environment holds a key: %s, want no %q in it", all, "canary")
	}
}

func TestTheWorkerEndsWithItsParent(t *testing.T) {
	cmd := exec.Command(os.Args[0], "extract-worker")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v, want no error", err)
	}
}

func TestWorkersTakeHalfOfTheMemory(t *testing.T) {
	for _, tt := range []struct {
		memory           int64
		reading, drawing int
	}{
		{0, 2, 1}, {64 << 30, 2, 1}, {3 << 30, 2, 1}, {2 << 30, 1, 1}, {1 << 30, 1, 0}, {256 << 20, 1, 0},
	} {
		if reading, drawing := worker.Lanes(tt.memory); reading != tt.reading || drawing != tt.drawing {
			t.Errorf("with %d MiB %d read and %d draw, want %d and %d", tt.memory>>20, reading, drawing, tt.reading,
				tt.drawing)
		}
	}
	reader := newReader(t, func(c *worker.Config) { c.Memory = 1 << 30 })
	f := pdftest.Write(t, pdftest.Many(2))
	mustRead(t, reader, f)
	drawPage(t, reader, f, 1, 400)
	if pids := reader.Pids(); len(pids) != 1 {
		t.Errorf("%d processes read and draw with 1 GiB, want one", len(pids))
	}
}

func TestATextNeedsNoPDFium(t *testing.T) {
	reader := newReader(t, nil)
	first := mustRead(t, reader, file(t, "a.md", "# One\n\ntext"))
	pids := reader.Pids()
	mustRead(t, reader, file(t, "b.html", "<h1>Two</h1><p>text"))
	if again := reader.Pids(); first.Title != "One" || len(pids) != 1 || len(again) != 1 || pids[0] != again[0] {
		t.Errorf("title %q; processes %v, then %v: want one that stays", first.Title, pids, again)
	}
	if loaded, _ := reader.Loaded(); loaded || reader.HasOneReady() {
		t.Error("PDFium was loaded for a text")
	}
}
