package corpustest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// TestQueue tests the contract of corpus.Queue. open is called once per subtest and returns two empty queues that
// share their jobs, like two replicas. Jobs outlive the process that added them. The tests do not sleep.
func TestQueue(t *testing.T, open func(*testing.T) (one, two corpus.Queue)) {
	// A worker takes only the kinds that it names.
	t.Run("jobs of a user are oldest first by kind", func(t *testing.T) {
		t.Parallel()
		q, _ := open(t)
		enqueue(t, q, corpus.JobIngest, "u1", "d1")
		enqueue(t, q, corpus.JobEmbed, "u1", "d2")
		enqueue(t, q, corpus.JobIngest, "u1", "d3")
		wantWaiting(t, q, 3)
		w := startWork(t, q, 1, nil, corpus.JobIngest)
		first := w.next(t)
		if first != (corpus.Job{
			Kind: corpus.JobIngest, DocumentID: "d1", User: "u1", SHA256: hashOf("d1"), Attempt: 1,
		}) {
			t.Errorf("job = %+v", first)
		}
		if job := w.next(t); job.DocumentID != "d3" {
			t.Errorf("job = %+v", job)
		}
		w.stop()
		// The other kind's job stays queued until a worker for it starts.
		if job := startWork(t, q, 1, nil, corpus.JobEmbed).next(t); job.DocumentID != "d2" ||
			job.Kind != corpus.JobEmbed {
			t.Errorf("job = %+v", job)
		}
		eventuallyEmpty(t, q)
	})
	// An opened document is prioritised, without delaying other users' jobs.
	t.Run("prioritized job swaps with the first of its user", func(t *testing.T) {
		t.Parallel()
		q, other := open(t)
		for _, document := range []string{"d1", "d2", "d3"} {
			enqueue(t, q, corpus.JobEmbed, "u1", document)
		}
		enqueue(t, q, corpus.JobEmbed, "u2", "e1")
		// A job of another kind for the same document must not move.
		enqueue(t, q, corpus.JobIngest, "u1", "d3")
		mustDo(t, "Hasten", other.Prioritise(t.Context(), corpus.JobEmbed, "d3"))
		// Both are no-ops: the caller does not know whether the document has a waiting job.
		mustDo(t, "Hasten of what is first", other.Prioritise(t.Context(), corpus.JobEmbed, "d3"))
		mustDo(t, "Hasten of what does not wait", other.Prioritise(t.Context(), corpus.JobEmbed, "d4"))
		w := startWork(t, q, 1, nil, corpus.JobEmbed)
		var order []string
		for range 4 {
			order = append(order, w.next(t).DocumentID)
		}
		// The position of the other user's job is tested by testTurns.
		own := slices.DeleteFunc(slices.Clone(order), func(document string) bool { return document == "e1" })
		if want := []string{"d3", "d2", "d1"}; !slices.Equal(own, want) {
			t.Errorf("the jobs came as %q, want those of the user as %q", order, want)
		}
	})
	// Enqueue adds a job although the same one is running, because that one may have read outdated data. Ensure
	// does not, since one waiting or running job is enough.
	t.Run("same job is queued once, and again while running", func(t *testing.T) {
		t.Parallel()
		q, other := open(t)
		enqueue(t, q, corpus.JobIngest, "u", "d1")
		enqueue(t, other, corpus.JobIngest, "u", "d1")
		mustDo(t, "Ensure", other.Ensure(
			t.Context(), corpus.Job{Kind: corpus.JobIngest, DocumentID: "d1", User: "u", SHA256: hashOf("d1")},
		))
		wantWaiting(t, other, 1)
		enqueue(t, q, corpus.JobEmbed, "u", "d1")
		// Another version of the document is another job.
		mustDo(t, "Enqueue", q.Enqueue(
			t.Context(), corpus.Job{Kind: corpus.JobIngest, DocumentID: "d1", User: "u", SHA256: "another version"},
		))
		wantWaiting(t, q, 3)
		// The worker holds the first job until the gate opens.
		gate := make(chan struct{})
		w := startWork(
			t, q, 1, func(ctx context.Context, _ corpus.Job) error { return wait(ctx, gate) }, corpus.JobIngest,
		)
		w.next(t)
		mustDo(t, "Ensure", other.Ensure(
			t.Context(), corpus.Job{Kind: corpus.JobIngest, DocumentID: "d1", User: "u", SHA256: hashOf("d1")},
		))
		wantWaiting(t, q, 3)
		enqueue(t, other, corpus.JobIngest, "u", "d1")
		wantWaiting(t, q, 4)
		// Both jobs for d1 are processed: the running one, and the one added meanwhile.
		close(gate)
		for range 2 {
			w.next(t)
		}
	})
	// A job that keeps failing must not block others.
	t.Run("failed job is retried after others", func(t *testing.T) {
		t.Parallel()
		q, _ := open(t)
		enqueue(t, q, corpus.JobIngest, "u", "d1")
		enqueue(t, q, corpus.JobIngest, "u", "d2")
		w := startWork(t, q, 1, func(_ context.Context, job corpus.Job) error {
			if job.DocumentID == "d1" && job.Attempt == 1 {
				return errors.New("not yet")
			}
			return nil
		}, corpus.JobIngest)
		var seen []string
		for range 3 {
			job := w.next(t)
			seen = append(seen, fmt.Sprint(job.DocumentID, " ", job.Attempt))
		}
		// The library gives up by the attempt count.
		if want := []string{"d1 1", "d2 1", "d1 2"}; !slices.Equal(seen, want) {
			t.Errorf("jobs %q, want %q", seen, want)
		}
		eventuallyEmpty(t, q)
	})
	// A server stopped for an update must not count as a failed attempt.
	t.Run("interrupted work continues elsewhere without an attempt", func(t *testing.T) {
		t.Parallel()
		q, other := open(t)
		enqueue(t, q, corpus.JobIngest, "u", "d1")
		w := startWork(
			t, q, 1, func(ctx context.Context, _ corpus.Job) error { return wait(ctx, nil) }, corpus.JobIngest,
		)
		w.next(t)
		w.stop()
		// The job is back in the queue, and another replica takes it.
		wantWaiting(t, other, 1)
		if job := startWork(t, other, 1, nil, corpus.JobIngest).next(t); job.DocumentID != "d1" || job.Attempt != 1 {
			t.Errorf("job = %+v", job)
		}
		eventuallyEmpty(t, q)
	})
	t.Run("job running alone is blamed for a crash", func(t *testing.T) { testDeaths(t, open) })
	t.Run("jobs of a crashed process run one at a time", func(t *testing.T) { testSuspects(t, open) })
	// The worker may be in another process. The context's cause is ErrCancelled.
	t.Run("cancellation ends a job in any state", func(t *testing.T) {
		t.Parallel()
		q, other := open(t)
		enqueue(t, q, corpus.JobIngest, "u", "d1")
		// The cause distinguishes a cancelled job from a stopped server: a cancelled job must not be retried.
		causes := make(chan error, 1)
		w := startWork(t, q, 1, func(ctx context.Context, job corpus.Job) error {
			if job.DocumentID != "d1" {
				return nil
			}
			err := wait(ctx, nil)
			causes <- context.Cause(ctx)
			return err
		}, corpus.JobIngest)
		w.next(t)
		enqueue(t, q, corpus.JobIngest, "u", "d2")
		enqueue(t, q, corpus.JobIngest, "u", "d3")
		// A waiting job, a running one, and a document without jobs.
		mustDo(t, "Cancel", other.Cancel(t.Context(), "d2"))
		mustDo(t, "Cancel", other.Cancel(t.Context(), "d1"))
		mustDo(t, "Cancel", other.Cancel(t.Context(), "nothing"))
		if cause := <-causes; !errors.Is(cause, corpus.ErrCancelled) {
			t.Errorf("running job ended with %v, want ErrCancelled", cause)
		}
		if job := w.next(t); job.DocumentID != "d3" {
			t.Errorf("job = %+v, want the one that was not cancelled", job)
		}
		eventuallyEmpty(t, q)
	})
	t.Run("thousand uploads do not delay another user", func(t *testing.T) { testTurns(t, open) })
	t.Run("job limit per user does not delay other users",
		func(t *testing.T) { testPerUser(t, open) })
	// Eight goroutines add jobs and eight workers of two queues take them: no job is lost or processed twice.
	t.Run("500 jobs go to one worker each", func(t *testing.T) {
		t.Parallel()
		one, two := open(t)
		// Seven users mix fair scheduling with races between workers.
		const jobs, adders = 500, 8
		var wg sync.WaitGroup
		for a := range adders {
			wg.Go(func() {
				for i := a; i < jobs; i += adders {
					if err := one.Enqueue(t.Context(), corpus.Job{
						Kind: corpus.JobIngest, DocumentID: fmt.Sprint(i), User: fmt.Sprint("u", i%7), SHA256: "x",
					}); err != nil {
						t.Errorf("Enqueue: %v", err)
					}
				}
			})
		}
		wg.Wait()
		wantWaiting(t, two, jobs)
		var mu sync.Mutex
		taken := make(map[string]int)
		done := make(chan struct{})
		do := func(_ context.Context, job corpus.Job) error {
			mu.Lock()
			defer mu.Unlock()
			// If a job is wrongly taken twice, close the channel only once.
			taken[job.DocumentID]++
			if len(taken) == jobs && taken[job.DocumentID] == 1 {
				close(done)
			}
			return nil
		}
		for _, q := range []corpus.Queue{one, two} {
			startWork(t, q, 4, do, corpus.JobIngest).discard()
		}
		mustDo(t, "all jobs", wait(t.Context(), done))
		eventuallyEmpty(t, one)
		mu.Lock()
		defer mu.Unlock()
		for document, n := range taken {
			if n != 1 {
				t.Errorf("job of %s was taken %d times, want once", document, n)
			}
		}
	})
}

// wait returns when ch is closed, or with the error of ctx.
func wait(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// working is a running Work call. jobs is unbuffered, so that a job waits in its worker until the test receives it.
type working struct {
	jobs  chan corpus.Job // started jobs
	ended chan struct{}
	stop  func() // stops the work and waits for its end
}

// startWork processes the jobs of a kind with do, or with a no-op if do is nil, until stop or the end of the test.
// An error of Work fails the test.
func startWork(
	t *testing.T, q corpus.Queue, workers int, do func(context.Context, corpus.Job) error, kind corpus.JobKind,
) *working {
	t.Helper()
	w := &working{jobs: make(chan corpus.Job), ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() {
		defer close(w.ended)
		err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{kind: {Jobs: workers, Do: func(
			ctx context.Context, job corpus.Job,
		) error {
			select {
			case w.jobs <- job:
			case <-ctx.Done():
				return ctx.Err()
			}
			if do == nil {
				return nil
			}
			return do(ctx, job)
		}}})
		if err != nil {
			t.Errorf("Work: %v", err)
		}
	}()
	w.stop = func() { cancel(); <-w.ended }
	t.Cleanup(w.stop)
	return w
}

// next waits for the next job to start.
func (w *working) next(t *testing.T) corpus.Job {
	t.Helper()
	select {
	case job := <-w.jobs:
		return job
	case <-t.Context().Done():
		t.Fatal("timeout waiting for a job")
		return corpus.Job{}
	}
}

// discard drains the started jobs. Its goroutine ends with the work.
func (w *working) discard() {
	go func() {
		for {
			select {
			case <-w.jobs:
			case <-w.ended:
				return
			}
		}
	}()
}

// enqueue adds a job for a document's bytes.
func enqueue(t *testing.T, q corpus.Queue, kind corpus.JobKind, user, document string) {
	t.Helper()
	mustDo(t, "Enqueue", q.Enqueue(
		t.Context(), corpus.Job{Kind: kind, DocumentID: document, User: user, SHA256: hashOf(document)},
	))
}

// wantWaiting checks the number of waiting and running jobs.
func wantWaiting(t *testing.T, q corpus.Queue, want int) {
	t.Helper()
	if n, err := q.Waiting(t.Context()); err != nil || n != want {
		t.Errorf("Waiting = %d, %v; want %d", n, err, want)
	}
}

// eventuallyEmpty polls until no job is left, since a job is removed only after its worker returned. The test's
// deadline is the timeout.
func eventuallyEmpty(t *testing.T, q corpus.Queue) {
	t.Helper()
	for t.Context().Err() == nil {
		n, err := q.Waiting(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}
