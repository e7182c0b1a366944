package worker_test

import (
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/child"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// curious is a Handler that a file has taken over. Its text is what it can see and reach.
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
	// A link in the place of a file inside would have the server read another file.
	if err := os.Symlink(lines[0], filepath.Join(req.File.Members, "1")); err != nil {
		return corpus.Extracted{}, err
	}
	return corpus.Extracted{Text: strings.Join(said, "; "), Members: []corpus.Member{{Path: "x", File: "1"}}}, nil
}

func (curious) Render(context.Context, worker.Request) ([]byte, error) { return nil, io.EOF }
func (curious) Close(context.Context) error                            { return nil }

// TestTheWorkerSeesItsFileOnly has a worker that does what it likes look for others' files, processes and servers.
func TestTheWorkerSeesItsFileOnly(t *testing.T) {
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
		t.Error("a link in the place of a file inside was taken")
	}
	if left, err := os.ReadDir(f.Members); err != nil || len(left) > 0 {
		t.Errorf("the library was given %v, %v; want nothing", left, err)
	}
}

// BenchmarkStart starts a worker for a text and ends it.
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
