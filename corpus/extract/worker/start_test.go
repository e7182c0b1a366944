package worker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
)

// scripted makes a reader whose workers run a shell script; $WORKER in it is the command of a real one. They are not
// confined, where a shell is process 1 and no signal of its own ends it.
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

func TestAWorkerKilledBeforeItBeginsWithAFileIsADeathOfItsReader(t *testing.T) {
	for _, script := range []string{"kill -KILL $$", "kill -TERM $$", "read request; kill -KILL $$"} {
		t.Run(script, func(t *testing.T) {
			_, err := scripted(t, script).Extract(t.Context(), file(t, "a.md", "# One"), nil)
			if !errors.Is(err, corpus.ErrReaderDied) {
				t.Errorf("error = %v, want ErrReaderDied", err)
			}
		})
	}
}

func TestAWorkerThatCannotStartIsNoFilesFault(t *testing.T) {
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
	t.Run("it can't load what it needs", func(t *testing.T) {
		reader := newReader(t, func(c *worker.Config) { c.CacheDir = "/dev/null/cache" })
		_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.Many(2)), nil)
		wantNotStarted(t, err)
	})
	t.Run("there is no such program", func(t *testing.T) {
		reader := newReader(t, func(c *worker.Config) { c.Command = []string{filepath.Join(t.TempDir(), "none")} })
		_, err := reader.Extract(t.Context(), file(t, "a.md", "# One"), nil)
		wantNotStarted(t, err)
	})
}

// wantNotStarted wants an error that is retried without end and is no death that a document is blamed for.
func wantNotStarted(t *testing.T, err error) {
	t.Helper()
	_, failed := errors.AsType[*corpus.Failure](err)
	if err == nil || chat.CodeOf(err) != chat.CodeUnavailable || errors.Is(err, corpus.ErrReaderDied) || failed {
		t.Errorf("error = %v, want one with %s: no file is to blame", err, chat.CodeUnavailable)
	}
}
