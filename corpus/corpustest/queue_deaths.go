package corpustest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// Mortal is a queue that can take jobs like a process that dies right after, with expired leases. corpus.Queue
// itself can't do this, since it renews the leases of running jobs.
type Mortal interface {
	TakeAndDie(t *testing.T, kind corpus.JobKind, jobs int)
}

// mortal returns the queue as a Mortal; stores wrap theirs for these tests.
func mortal(t *testing.T, q corpus.Queue) Mortal {
	t.Helper()
	m, ok := q.(Mortal)
	if !ok {
		t.Fatalf("%T cannot simulate a crash", q)
	}
	return m
}

// testDeaths tests Blame: crashes are counted permanently, errors and stops are not. This distinguishes a file that
// crashes readers from other failures.
func testDeaths(t *testing.T, open func(*testing.T) (one, two corpus.Queue)) {
	t.Parallel()
	q, _ := open(t)
	enqueue(t, q, corpus.JobIngest, "u", "d1")
	mortal(t, q).TakeAndDie(t, corpus.JobIngest, 1)
	w := startWork(t, q, 1, func(ctx context.Context, job corpus.Job) error {
		switch job.Attempt {
		case 1:
			return errors.New("it ends with an error")
		case 2:
			return fmt.Errorf("extract: %w", corpus.ErrReaderDied)
		}
		return wait(ctx, nil)
	}, corpus.JobIngest)
	want := func(after string, job corpus.Job, attempt, blame int) {
		t.Helper()
		if job.Attempt != attempt || job.Blame != blame {
			t.Errorf("after %s the job is %+v, want attempt %d and blame %d", after, job, attempt, blame)
		}
	}
	want("a death of its process", w.next(t), 1, corpus.ServerBlame)
	want("an error", w.next(t), 2, corpus.ServerBlame)
	want("the death of what read the file", w.next(t), 3, corpus.ServerBlame+corpus.ReaderBlame)
	w.stop()
	want("work cut short", startWork(t, q, 1, nil, corpus.JobIngest).next(t), 3, corpus.ServerBlame+corpus.ReaderBlame)
	eventuallyEmpty(t, q)
}

// testSuspects tests that among several jobs of a crashed process none is blamed. They are retried first, each
// alone, so that the next crash identifies the culprit, which then waits while others run. Otherwise a file that
// crashes the process would also get innocent jobs blamed and failed.
func testSuspects(t *testing.T, open func(*testing.T) (one, two corpus.Queue)) {
	t.Parallel()
	q, _ := open(t)
	for i := range 3 {
		enqueue(t, q, corpus.JobIngest, "u", fmt.Sprint("suspect", i))
	}
	mortal(t, q).TakeAndDie(t, corpus.JobIngest, 3)
	mortal(t, q).TakeAndDie(t, corpus.JobIngest, 1) // one of them alone
	enqueue(t, q, corpus.JobIngest, "another", "innocent")
	gate := make(chan struct{})
	w := startWork(t, q, 3, func(ctx context.Context, _ corpus.Job) error { return wait(ctx, gate) }, corpus.JobIngest)
	for i := range 2 {
		job := w.next(t)
		if job.Blame != 0 || job.Attempt != 1 || job.DocumentID == "innocent" {
			t.Errorf("job %d is %+v, want a suspect at its first attempt that is not blamed", i, job)
		}
		for range 20 { // others had time to be taken
			wantWaiting(t, q, 4-i)
		}
		select {
		case other := <-w.jobs:
			t.Fatalf("job %+v runs beside the suspect %+v", other, job)
		default:
			gate <- struct{}{}
		}
	}
	if job := w.next(t); job.DocumentID != "innocent" || job.Blame != 0 { // while the blamed job waits
		t.Errorf("the next job is %+v, want the one that was not at work", job)
	}
	gate <- struct{}{}
	if job := w.next(t); job.DocumentID == "innocent" || job.Blame != corpus.ServerBlame {
		t.Errorf("the last job is %+v, want the one that was blamed", job)
	}
	close(gate)
	eventuallyEmpty(t, q)
}
