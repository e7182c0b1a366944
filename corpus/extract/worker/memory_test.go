package worker_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/worker"
)

// greedy takes as much memory as the name of a file says, and reads it if nobody ends it.
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
		worker.Outside(worker.Limit)
		select {}
	}
	return corpus.Extracted{Text: "a", Blocks: []corpus.Block{{ID: "b1", End: 1}}}, ctx.Err()
}

func (greedy) Render(context.Context, worker.Request) ([]byte, error) { return nil, nil }

func (greedy) Close(context.Context) error { return nil }

// Systems that limit no process's memory have a worker that looks at itself.
func TestAWorkerEndsItselfOverItsLimit(t *testing.T) {
	reader := newReader(t, func(c *worker.Config) {
		c.Command, c.BatchLimit = []string{os.Args[0], "greedy-worker"}, 5*time.Second
	})
	for _, where := range []string{"heap", "outside"} {
		t.Run(where, func(t *testing.T) {
			_, err := reader.Extract(t.Context(), corpus.File{Filename: where}, nil)
			wantFailure(t, err, "memory")
			if err != nil && !strings.Contains(err.Error(), "takes more than 512 MB of memory.") {
				t.Errorf("error = %v, want one that says the limit", err)
			}
		})
	}
	if x, err := reader.Extract(t.Context(), corpus.File{Filename: "modest"}, nil); err != nil || x.Text != "a" {
		t.Errorf("the next file: %q, %v; want %q", x.Text, err, "a")
	}
}
