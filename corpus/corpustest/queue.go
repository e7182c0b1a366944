package corpustest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"footnote/chat"
	"footnote/corpus"
)

// TestQueue checks each promise in corpus.Queue's comments. open returns an empty queue, once per subtest. A lease of 0
// has ended at once, so no test waits for one.
func TestQueue(t *testing.T, open func(*testing.T) corpus.Queue) {
	t.Run("jobs come oldest first, each kind by itself", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		enqueue(t, q, corpus.JobIngest, "d1")
		enqueue(t, q, corpus.JobEmbed, "d2")
		enqueue(t, q, corpus.JobIngest, "d3")
		job := mustTake(t, q, corpus.JobIngest, time.Hour)
		if job.DocumentID != "d1" || job.SHA256 != hashOf("d1") || job.Kind != corpus.JobIngest || job.Attempt != 1 {
			t.Errorf("job = %+v", job)
		}
		if job := mustTake(t, q, corpus.JobIngest, time.Hour); job.DocumentID != "d3" {
			t.Errorf("job = %+v", job)
		}
		wantNone(t, q, corpus.JobIngest)
		if job := mustTake(t, q, corpus.JobEmbed, time.Hour); job.DocumentID != "d2" {
			t.Errorf("job = %+v", job)
		}
	})
	t.Run("the same job waits once, and again while it is at work", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		enqueue(t, q, corpus.JobIngest, "d1")
		enqueue(t, q, corpus.JobIngest, "d1")
		wantWaiting(t, q, 1)
		enqueue(t, q, corpus.JobEmbed, "d1")
		mustDo(t, "Enqueue", q.Enqueue(t.Context(), corpus.JobIngest, "d1", "another version"))
		wantWaiting(t, q, 3)
		mustTake(t, q, corpus.JobIngest, time.Hour)
		enqueue(t, q, corpus.JobIngest, "d1")
		wantWaiting(t, q, 4)
	})
	t.Run("a job whose lease ended is given again", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		enqueue(t, q, corpus.JobIngest, "d1")
		first := mustTake(t, q, corpus.JobIngest, 0)
		second := mustTake(t, q, corpus.JobIngest, time.Hour)
		if second.ID != first.ID || second.Attempt != 2 {
			t.Errorf("job = %+v, want %d at its second attempt", second, first.ID)
		}
		wantNone(t, q, corpus.JobIngest)
	})
	t.Run("a lease can be prolonged and cut short", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		enqueue(t, q, corpus.JobIngest, "d1")
		job := mustTake(t, q, corpus.JobIngest, 0)
		mustDo(t, "Extend", q.Extend(t.Context(), job.ID, time.Hour))
		wantNone(t, q, corpus.JobIngest)
		mustDo(t, "Extend", q.Extend(t.Context(), job.ID, 0))
		mustTake(t, q, corpus.JobIngest, time.Hour)
	})
	t.Run("a job that is put back comes not before its time", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		enqueue(t, q, corpus.JobIngest, "d1")
		job := mustTake(t, q, corpus.JobIngest, time.Hour)
		mustDo(t, "Retry", q.Retry(t.Context(), job.ID, time.Now().Add(time.Hour)))
		wantNone(t, q, corpus.JobIngest)
		wantWaiting(t, q, 1)
		enqueue(t, q, corpus.JobIngest, "d1")
		wantWaiting(t, q, 1)
		mustDo(t, "Retry", q.Retry(t.Context(), job.ID, time.Now().Add(-time.Second)))
		if again := mustTake(t, q, corpus.JobIngest, time.Hour); again.ID != job.ID || again.Attempt != 2 {
			t.Errorf("job = %+v", again)
		}
	})
	t.Run("a job that is done is gone", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		enqueue(t, q, corpus.JobIngest, "d1")
		job := mustTake(t, q, corpus.JobIngest, 0)
		mustDo(t, "Done", q.Done(t.Context(), job.ID))
		mustDo(t, "Done again", q.Done(t.Context(), job.ID))
		wantNone(t, q, corpus.JobIngest)
		wantWaiting(t, q, 0)
		wantCode(t, "Extend", q.Extend(t.Context(), job.ID, time.Hour), chat.CodeNotFound)
		wantCode(t, "Retry", q.Retry(t.Context(), job.ID, time.Now()), chat.CodeNotFound)
	})
	t.Run("each of 500 jobs goes to one of many workers", func(t *testing.T) {
		t.Parallel()
		q := open(t)
		const jobs, workers = 500, 8
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := w; i < jobs; i += workers {
					if err := q.Enqueue(t.Context(), corpus.JobIngest, fmt.Sprint(i), "x"); err != nil {
						t.Errorf("Enqueue: %v", err)
					}
				}
			})
		}
		wg.Wait()
		wantWaiting(t, q, jobs)
		var mu sync.Mutex
		taken := make(map[string]int)
		for range workers {
			wg.Go(func() {
				for {
					job, ok, err := q.Take(t.Context(), corpus.JobIngest, time.Hour)
					if err != nil {
						t.Errorf("Take: %v", err)
					}
					if !ok {
						return
					}
					mu.Lock()
					taken[job.DocumentID]++
					mu.Unlock()
					if err := q.Done(t.Context(), job.ID); err != nil {
						t.Errorf("Done: %v", err)
					}
				}
			})
		}
		wg.Wait()
		if len(taken) != jobs {
			t.Errorf("%d jobs were taken, want %d", len(taken), jobs)
		}
		for document, n := range taken {
			if n != 1 {
				t.Errorf("the job of %s was taken %d times", document, n)
			}
		}
		wantWaiting(t, q, 0)
	})
}

func enqueue(t *testing.T, q corpus.Queue, kind corpus.JobKind, document string) {
	t.Helper()
	mustDo(t, "Enqueue", q.Enqueue(t.Context(), kind, document, hashOf(document)))
}

func mustTake(t *testing.T, q corpus.Queue, kind corpus.JobKind, lease time.Duration) corpus.Job {
	t.Helper()
	job, ok, err := q.Take(t.Context(), kind, lease)
	if err != nil || !ok {
		t.Fatalf("Take(%s) = %v, %v", kind, ok, err)
	}
	return job
}

func wantNone(t *testing.T, q corpus.Queue, kind corpus.JobKind) {
	t.Helper()
	if job, ok, err := q.Take(t.Context(), kind, time.Hour); err != nil || ok {
		t.Errorf("Take(%s) = %+v, %v, %v; want none", kind, job, ok, err)
	}
}

func wantWaiting(t *testing.T, q corpus.Queue, want int) {
	t.Helper()
	if n, err := q.Waiting(t.Context()); err != nil || n != want {
		t.Errorf("Waiting = %d, %v; want %d", n, err, want)
	}
}
