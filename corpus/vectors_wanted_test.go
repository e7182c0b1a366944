package corpus_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// brokenQueue fails the first time an embed job is queued.
type brokenQueue struct {
	corpus.Queue
	failed atomic.Bool
}

func (q *brokenQueue) Ensure(ctx context.Context, job corpus.Job) error {
	if job.Kind == corpus.JobEmbed && !q.failed.Swap(true) {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "The database isn't responding."}
	}
	return q.Queue.Ensure(ctx, job)
}

// A document that became ready just before the database failed still gets its vectors.
func TestFailedEmbeddingJobIsQueuedAgain(t *testing.T) {
	queue := &brokenQueue{}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		queue.Queue = c.Queue
		c.Queue, c.Vectors, c.Embedder = queue, db.Vectors("hashing"), embedtest.Hashing{}
	})
	d := sh.add(t, "survey.md", "# Roof survey\n\nThe slates are sound.\n")
	sh.start(t)
	for {
		now, changed, err := sh.Watch(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.Semantic == corpus.SemanticReady {
			break
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("vectors are still %s", now.Semantic)
		}
	}
	if !queue.failed.Load() {
		t.Error("queue never failed")
	}
}
