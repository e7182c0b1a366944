package corpustest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// testTurns tests fair scheduling: a new user is served next, then users alternate. Turns are per user, not per
// job: a user with a thousand files has no more turns.
func testTurns(t *testing.T, open func(*testing.T) (one, two corpus.Queue)) {
	t.Parallel()
	q, other := open(t)
	for i := range 1000 {
		enqueue(t, q, corpus.JobIngest, "many", fmt.Sprint("m", i))
	}
	gate := make(chan struct{})
	// Ten of the thousand are started, and the tenth blocks, so that other jobs arrive while a worker is busy.
	w := startWork(t, q, 1, func(ctx context.Context, job corpus.Job) error {
		if job.DocumentID == "m9" {
			return wait(ctx, gate)
		}
		return nil
	}, corpus.JobIngest)
	for i := range 10 {
		if job := w.next(t); job.User != "many" || job.DocumentID != fmt.Sprint("m", i) {
			t.Fatalf("job %d = %+v", i, job)
		}
	}
	for i := range 3 {
		enqueue(t, other, corpus.JobIngest, "few", fmt.Sprint("f", i))
	}
	enqueue(t, other, corpus.JobIngest, chat.LocalUser, "one")
	close(gate)
	var order []string
	for range 9 {
		order = append(order, w.next(t).DocumentID)
	}
	// Three users alternate: each round has one job of each user as long as they have any. "one" is done after the
	// first round, then the others alternate.
	for document, last := range map[string]int{"f0": 2, "one": 2, "m10": 2, "f1": 5, "m11": 5, "f2": 8, "m12": 8} {
		if at := slices.Index(order, document); at < 0 || at > last {
			t.Errorf("%s came as number %d of %q, want at most %d", document, at, order, last)
		}
	}
}

// testPerUser tests the limit per user: one user has a hundred long documents. Another's job starts while those are
// running, and each that ends is replaced by the user's next one.
func testPerUser(t *testing.T, open func(*testing.T) (one, two corpus.Queue)) {
	t.Parallel()
	q, other := open(t)
	for i := range 100 {
		enqueue(t, q, corpus.JobIngest, "many", fmt.Sprint("m", i))
	}
	begun, end := make(chan corpus.Job), make(chan struct{})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{corpus.JobIngest: {
			Jobs: 8, PerUser: 2, Do: func(ctx context.Context, job corpus.Job) error {
				select {
				case begun <- job:
				case <-ctx.Done():
					return ctx.Err()
				}
				return wait(ctx, end)
			},
		}}); err != nil {
			t.Errorf("Work: %v", err)
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	next := func() corpus.Job {
		select {
		case job := <-begun:
			return job
		case <-t.Context().Done():
			t.Fatal("timeout waiting for a job")
			return corpus.Job{}
		}
	}
	next()
	next()
	enqueue(t, other, corpus.JobIngest, "one", "f")
	if job := next(); job.User != "one" {
		t.Fatalf("job = %+v, want the other user's beside two of the first", job)
	}
	for range 10 { // one of the three running jobs ends, and one starts
		end <- struct{}{}
		end <- struct{}{}
		end <- struct{}{}
		next()
		next()
		enqueue(t, other, corpus.JobIngest, "one", "f")
		if job := next(); job.User != "one" {
			t.Fatalf("job = %+v, want the other user's", job)
		}
	}
}
