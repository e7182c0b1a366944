package worker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/child"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// curious is a Handler that simulates a compromised worker. Its text lists everything that it can access.
type curious struct{}

func (curious) Begin(context.Context, worker.Request) (worker.Start, error) {
	return worker.Start{}, nil
}

func (curious) Extract(
	ctx context.Context, req worker.Request, _ func(done, total int),
) (corpus.Extracted, error) {
	own, err := os.ReadFile(req.File.Path)
	said := []string{"own: " + string(own)}
	if err != nil {
		said = append(said, err.Error())
	}
	lines := strings.Fields(req.File.Filename) // a file of the server, and an address
	if other, err := os.ReadFile(lines[0]); err == nil {
		said = append(said, "other: "+string(other))
	}
	if err := os.WriteFile(req.File.Path, []byte("changed"), 0o600); err == nil {
		said = append(said, "changed its file")
	}
	if c, err := (&net.Dialer{}).DialContext(ctx, "tcp", lines[1]); err == nil {
		_ = c.Close()
		said = append(said, "connected")
	}
	if found, err := filepath.Glob("/proc/*"); err == nil && len(found) > 0 {
		said = append(said, "saw processes")
	}
	if req.File.Members == "" {
		return corpus.Extracted{Text: strings.Join(said, "; ")}, nil
	}
	// A symbolic link in place of a member would make the server read another file.
	if err := os.Symlink(lines[0], filepath.Join(req.File.Members, "1")); err != nil {
		return corpus.Extracted{}, err
	}
	return corpus.Extracted{Text: strings.Join(said, "; "), Members: []corpus.Member{{Path: "x", File: "1"}}}, nil
}

func (curious) Render(context.Context, worker.Request) ([]byte, error) { return nil, io.EOF }
func (curious) Close(context.Context) error                            { return nil }

// TestWorkerSeesOnlyItsFile runs a compromised worker that tries to access other files, processes and servers.
func TestWorkerSeesOnlyItsFile(t *testing.T) {
	if err := child.Refused(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	reader := newReader(t, func(c *worker.Config) { c.Command = []string{os.Args[0], "curious-worker"} })
	other := file(t, "other.md", "a canary")
	f := file(t, "a.md", "words")
	f.Filename = other.Path + " " + listener.Addr().String()
	x, err := reader.Extract(t.Context(), f, nil)
	if err != nil || x.Text != "own: words" {
		t.Errorf("it read %q, %v; want its own file alone", x.Text, err)
	}
	f.Members = t.TempDir()
	if _, err := reader.Extract(t.Context(), f, nil); err == nil {
		t.Error("symlink instead of a file: got no error, want one")
	}
	if left, err := os.ReadDir(f.Members); err != nil || len(left) > 0 {
		t.Errorf("the library was given %v, %v; want nothing", left, err)
	}
}

// BenchmarkStart starts and ends a worker for a text file.
func BenchmarkStart(b *testing.B) {
	f := file(b, "a.md", "# One")
	for b.Loop() {
		pool, err := worker.New(worker.Config{Command: workertest.Command(os.Args[0])})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := pool.Extract(b.Context(), f, nil); err != nil {
			b.Fatal(err)
		}
		if err := pool.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// greedy allocates memory in the place that the file name specifies, and succeeds if nothing ends it.
type greedy struct{}

var taken [][]byte // by greedy

func (greedy) Begin(context.Context, worker.Request) (worker.Start, error) {
	return worker.Start{}, nil
}

func (greedy) Extract(
	ctx context.Context, req worker.Request, _ func(done, total int),
) (corpus.Extracted, error) {
	switch req.File.Filename {
	case "heap":
		for range 1024 { // faster than any parser
			part := make([]byte, 1<<20)
			for at := 0; at < len(part); at += 4 << 10 {
				part[at] = 1
			}
			taken = append(taken, part)
		}
	case "outside":
		worker.AddOffHeap(worker.Limit)
		select {}
	}
	return corpus.Extracted{Text: "a", Blocks: []corpus.Block{{ID: "b1", End: 1}}}, ctx.Err()
}

func (greedy) Render(context.Context, worker.Request) ([]byte, error) { return nil, nil }

func (greedy) Close(context.Context) error { return nil }

// On systems without memory limits for processes, a worker checks itself.
func TestWorkerExitsOverMemoryLimit(t *testing.T) {
	reader := newReader(t, func(c *worker.Config) {
		c.Command, c.BatchLimit = []string{os.Args[0], "greedy-worker"}, 5*time.Second
	})
	for _, where := range []string{"heap", "outside"} {
		t.Run(where, func(t *testing.T) {
			_, err := reader.Extract(t.Context(), corpus.File{Filename: where}, nil)
			wantFailure(t, err, "memory")
			if err != nil && !strings.Contains(err.Error(), "exceeds the memory limit of 512 MB.") {
				t.Errorf("error = %v, want the limit in it", err)
			}
		})
	}
	if x, err := reader.Extract(t.Context(), corpus.File{Filename: "modest"}, nil); err != nil || x.Text != "a" {
		t.Errorf("the next file: %q, %v; want %q", x.Text, err, "a")
	}
}

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
	if !ok || f.Code != code || !strings.HasSuffix(f.Detail.String(), ".") {
		t.Errorf("error = %#v, want a *corpus.Failure %s with a sentence", err, code)
	}
}

func TestWorkerCrashFailsOnlyItsFile(t *testing.T) {
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

func TestWorkerCrashedWhileIdleIsReplaced(t *testing.T) {
	reader := newReader(t, nil)
	mustExtract(t, reader, pdftest.Many(2))
	reader.KillIdle()
	mustExtract(t, reader, pdftest.Many(2))
}

func TestIdleWorkerExits(t *testing.T) {
	reader := newReader(t, nil)
	mustExtract(t, reader, pdftest.Many(2))
	if state := reader.RetireIdle(); state == nil || !state.Success() {
		t.Errorf("the idle worker ended with %v, want success", state)
	}
	mustExtract(t, reader, pdftest.Many(2))
}

func TestSlowFileTimesOut(t *testing.T) {
	reader := newReader(t, func(c *worker.Config) { c.BatchLimit = time.Millisecond })
	_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.Many(2000)), nil)
	wantFailure(t, err, "timeout")
}

func TestCancellationEndsWork(t *testing.T) {
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

func TestRenderDoesNotWaitForExtraction(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Many(100))
	drawn := false
	_, err := reader.Extract(t.Context(), file, func(done, total int) {
		if done < total && !drawn {
			drawn = true
			drawPage(t, reader, file, 1, 400) // reading is blocked until the page is rendered
		}
	})
	if err != nil || !drawn {
		t.Errorf("got error %v, rendered %v", err, drawn)
	}
}

func TestWorkerSeesNoSecrets(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "canary")
	env, err := worker.Environment(t.Context(), workertest.Command(os.Args[0]))
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(env, "\n"); strings.Contains(all, "canary") {
		t.Errorf("the worker's environment holds a key: %s, want no %q in it", all, "canary")
	}
}

func TestWorkerExitsWithParent(t *testing.T) {
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

func TestWorkersUseHalfOfMemory(t *testing.T) {
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

func TestTextNeedsNoPDFium(t *testing.T) {
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

// counted returns a Pool whose workers create a file each, and a function that returns how many have started.
func counted(t *testing.T, change func(*worker.Config)) (r *worker.Pool, workers func() int) {
	t.Helper()
	worker.Unconfined(t) // a confined worker can't access these files
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

// come waits until the worker that Expect started is ready.
func come(r *worker.Pool) { r.AwaitExpected() }

func TestPrefetchedPageHasReadyWorker(t *testing.T) {
	reader, workers := counted(t, nil)
	for range 5 {
		reader.Expect()
	}
	come(reader)
	reader.Expect() // one is idle already
	come(reader)
	if n := workers(); n != 1 {
		t.Errorf("%d workers started, want 1", n)
	}
	if !reader.HasOneReady() {
		t.Error("no worker is ready with PDFium")
	}
	drawPage(t, reader, pdftest.Write(t, pdftest.Many(2)), 1, 400)
	if n := workers(); n != 1 {
		t.Errorf("%d workers started for an expected page, want 1", n)
	}
}

func TestUrgentPageTakesStartingWorker(t *testing.T) {
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

func TestClosedReaderPrefetchesNothing(t *testing.T) {
	reader, workers := counted(t, nil)
	reader.Expect()
	if err := reader.Close(); err != nil { // during the start
		t.Fatal(err)
	}
	n := workers()
	reader.Expect()
	come(reader)
	if workers() != n {
		t.Error("closed reader started a worker")
	}
}

func TestPageRenderErrorHasReason(t *testing.T) {
	for _, tt := range []struct {
		name  string
		file  []byte
		page  int
		limit time.Duration
		code  chat.Code
		says  string
	}{
		{"it takes too much memory", pdftest.Stamped(12, 10), 1, 0, chat.CodeUndrawable, "too complex to render"},
		{"it takes too long", pdftest.Many(1), 1, time.Nanosecond, chat.CodeUndrawable, "too complex to render"},
		{"it is damaged", []byte("%PDF-1.7 but nothing else"), 1, 0, chat.CodeUndrawable, "is damaged"},
		{"there is none", pdftest.Many(1), 2, 0, chat.CodeNotFound, "no page 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reader := newReader(t, func(c *worker.Config) { c.DrawLimit = tt.limit })
			_, err := reader.Render(t.Context(), pdftest.Write(t, tt.file), tt.page, 1000)
			if err == nil || chat.CodeOf(err) != tt.code || !strings.Contains(chat.MessageOf(err).String(), tt.says) {
				t.Errorf("error = %v, want %s and %q", err, tt.code, tt.says)
			}
		})
	}
}

func TestKilledWorkerIsNotPageError(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Many(2))
	drawn := make(chan error)
	go func() {
		_, err := reader.Render(t.Context(), file, 1, 1000)
		drawn <- err
	}()
	for {
		select {
		case err := <-drawn:
			if !errors.Is(err, corpus.ErrReaderDied) || chat.CodeOf(err) != chat.CodeUnavailable {
				t.Errorf("error = %v, want %v with %s", err, corpus.ErrReaderDied, chat.CodeUnavailable)
			}
			return
		default:
			reader.KillDrawing()
		}
	}
}

func TestRenderCompletesAfterReaderLeaves(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Many(2))
	reader.Expect()
	come(reader)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for reader.HasOneReady() { // until it gets the page
		}
		cancel()
	}()
	if _, err := reader.Render(ctx, file, 1, 4000); err != nil {
		t.Errorf("Render: %v, want no error", err)
	}
	if !reader.HasOneReady() {
		t.Error("the worker is gone, want one that waits")
	}
}

// scripted returns a Pool whose workers run a shell script; $WORKER in it is the command of a real one. They are not
// confined, because a confined shell is process 1, which ignores its own signals.
func scripted(t *testing.T, script string) *worker.Pool {
	t.Helper()
	worker.Unconfined(t)
	return newReader(t, func(c *worker.Config) {
		path := filepath.Join(t.TempDir(), "worker")
		body := "#!/bin/sh\n" + strings.ReplaceAll(script, "$WORKER", strings.Join(c.Command, " ")) + "\n"
		if err := os.WriteFile(path, []byte(body), 0o700); err != nil {
			t.Fatal(err)
		}
		c.Command = []string{path}
	})
}

func TestWorkerKilledBeforeStartIsReaderError(t *testing.T) {
	for _, script := range []string{"kill -KILL $$", "kill -TERM $$", "read request; kill -KILL $$"} {
		t.Run(script, func(t *testing.T) {
			_, err := scripted(t, script).Extract(t.Context(), file(t, "a.md", "# One"), nil)
			if !errors.Is(err, corpus.ErrReaderDied) {
				t.Errorf("error = %v, want ErrReaderDied", err)
			}
		})
	}
}

func TestWorkerStartFailureIsNotFileError(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"it ends by itself", "exit 127"},
		{"it says something else", "yes Usage | head -c 4096; exec sleep 60"},
		{"it can't run on this machine", "kill -SEGV $$"},
		{"there is no memory for it", "ulimit -v 100000; exec $WORKER"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := scripted(t, tt.script).Extract(t.Context(), file(t, "a.md", "# One"), nil)
			wantNotStarted(t, err)
		})
	}
	t.Run("missing libraries", func(t *testing.T) {
		reader := newReader(t, func(c *worker.Config) { c.CacheDir = "/dev/null/cache" })
		_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.Many(2)), nil)
		wantNotStarted(t, err)
	})
	t.Run("missing program", func(t *testing.T) {
		reader := newReader(t, func(c *worker.Config) { c.Command = []string{filepath.Join(t.TempDir(), "none")} })
		_, err := reader.Extract(t.Context(), file(t, "a.md", "# One"), nil)
		wantNotStarted(t, err)
	})
}

// wantNotStarted checks for an error that is retried without a limit and is not attributed to the document.
func wantNotStarted(t *testing.T, err error) {
	t.Helper()
	_, failed := errors.AsType[*corpus.Failure](err)
	if err == nil || chat.CodeOf(err) != chat.CodeUnavailable || errors.Is(err, corpus.ErrReaderDied) || failed {
		t.Errorf("error = %v, want one with %s: no file is to blame", err, chat.CodeUnavailable)
	}
}
