package worker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// peaks records the peak resident memory of each child process. stop returns it in bytes by process id.
func peaks(t *testing.T) (stop func() map[int]int64) {
	t.Helper()
	seen, done := map[int]int64{}, make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			tasks, _ := filepath.Glob("/proc/self/task/*/children")
			for _, task := range tasks {
				raw, _ := os.ReadFile(task) // a thread that has ended has none
				for pid := range strings.FieldsSeq(string(raw)) {
					if exe, _ := os.Readlink("/proc/" + pid + "/exe"); filepath.Base(exe) != workertest.PlainName {
						continue // not yet the worker: between fork and exec a child has its parent's memory
					}
					status, _ := os.ReadFile("/proc/" + pid + "/status")
					_, after, _ := strings.Cut(string(status), "VmHWM:")
					fields := strings.Fields(after)
					if n, err := strconv.Atoi(pid); err == nil && len(fields) > 0 {
						kib, _ := strconv.ParseInt(fields[0], 10, 64)
						seen[n] = max(seen[n], kib<<10)
					}
				}
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	})
	return sync.OnceValue(func() map[int]int64 { close(done); watch.Wait(); return seen })
}

func wide(columns, rows int) string {
	return strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|x\n", rows)
}

// TestHostileFilesStayWithinMemoryLimit reads each file, and checks the result and that no worker exceeds its memory
// limit.
func TestHostileFilesStayWithinMemoryLimit(t *testing.T) {
	command := plainWorker(t)
	files := newReader(t, func(c *worker.Config) { c.BatchLimit, c.Command = 20*time.Second, command })
	for _, tt := range []struct {
		name string
		file corpus.File
		fate string // the code of its failure; empty: success
	}{
		{"forms inside forms", pdftest.Write(t, pdftest.Nested(12, 10)), "memory"},
		{"a table of 20,000 columns and as many short rows", file(t, "t.md", wide(20_000, 20_000)), ""},
		{"many tables, none of them large", file(t, "t.md", strings.Repeat(wide(300, 300)+"\n", 40)), ""},
		{"quotations in quotations", file(t, "q.md", strings.Repeat(strings.Repeat(">", 90)+" a\n", 5000)), ""},
		{"open brackets", file(t, "b.md", strings.Repeat(strings.Repeat("[", 4000)+"\n", 100)), ""},
		{"open emphasis", file(t, "e.md", strings.Repeat(strings.Repeat("*a **a ", 1000)+"\n", 100)), ""},
		{"definitions of links", file(t, "l.md", strings.Repeat("[a]: b\n", 20_000)+"\ntext"), ""},
		{"short paragraphs in Markdown", file(t, "p.md", strings.Repeat("a\n\n", 1_000_000)), ""},
		{"30 MB of short paragraphs", file(t, "p.txt", strings.Repeat("a\n\n", 10_000_000)), ""},
		{"50 MB without a space", file(t, "x.txt", strings.Repeat("a", 50<<20)), ""},
		{"50 MB of underlined titles", file(t, "u.txt", strings.Repeat("ab\n===\n", 50<<20/7)), ""},
		{"elements 100,000 deep", file(t, "d.html", strings.Repeat("<div>", 100_000)+"a"), ""},
		{"formatting that is opened again in each paragraph",
			file(t, "f.html", fonts(400)+strings.Repeat("<p>a", 20_000)), ""},
		{"attributes", file(t, "a.html", "<p"+strings.Repeat(" a", 4_000_000)+">text"), ""},
		{"cells without a table", file(t, "c.html", "<table><tr>"+strings.Repeat("<td>", 2_000_000)+"a"), ""},
		{"50 MB of cells", file(t, "c.html", "<table><tr>"+strings.Repeat("<td>a", 10<<20)), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stop := peaks(t)
			began := time.Now()
			x, err := files.Extract(t.Context(), tt.file, nil)
			failure, _ := errors.AsType[*corpus.Failure](err)
			switch {
			case err != nil && failure == nil:
				t.Errorf("Extract: %v", err)
			case failure != nil && failure.Code != tt.fate:
				t.Errorf("failed with %s: %s, want %q", failure.Code, failure.Detail, tt.fate)
			case failure == nil && tt.fate != "":
				t.Errorf("read, want a failure %s", tt.fate)
			}
			for pid, peak := range stop() {
				t.Logf("process %d: %d MiB at its peak", pid, peak>>20)
				if peak > worker.Limit {
					t.Errorf("process %d held %d MiB, want at most %d", pid, peak>>20, worker.Limit>>20)
				}
			}
			t.Logf("%d bytes, %d blocks in %v", len(x.Text), len(x.Blocks), time.Since(began).Round(time.Millisecond))
		})
	}
}

// The process that compiles PDFium has little memory left.
func TestFirstPDFHasFullMemory(t *testing.T) {
	command := plainWorker(t)
	reader := newReader(t, func(c *worker.Config) { c.Command, c.CacheDir = command, t.TempDir() })
	_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.Nested(12, 10)), nil)
	wantFailure(t, err, "memory")
}

// plainWorker returns the command of a worker without the race detector.
func plainWorker(t *testing.T) []string { return workertest.Command(workertest.Plain(t)) }

func fonts(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("<font size=" + strconv.Itoa(i) + ">")
	}
	return b.String()
}
