package corpustest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// Mortal is a queue of a test that can take jobs as a process does that dies right after, and whose leases have ended.
// No job can be taken in such a way through corpus.Queue itself, which renews the leases of jobs while they are at
// work.
type Mortal interface {
	TakeAndDie(t *testing.T, kind corpus.JobKind, jobs int)
}

// mortal is the queue as one that can be made to die; stores wrap theirs for these tests.
func mortal(t *testing.T, q corpus.Queue) Mortal {
	t.Helper()
	m, ok := q.(Mortal)
	if !ok {
		t.Fatalf("%T can't be made to die", q)
	}
	return m
}

// testDeaths: whatever is counted as a death stays counted, and nothing else is. Blame tells a file that kills its
// readers from a bad day: an error or a stop adds none, a death does.
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

// testSuspects: of several jobs at work in a process that died none is blamed. They come before others, each alone, so
// that the next death is the fault of one of them, which then waits while others are done. Otherwise a file that kills
// the process would have innocent ones blamed each time, until they are given up with it.
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
			t.Fatalf("%+v is at work beside the suspect %+v", other, job)
		default:
			gate <- struct{}{}
		}
	}
	if job := w.next(t); job.DocumentID != "innocent" || job.Blame != 0 { // while the one that was blamed waits
		t.Errorf("the next job is %+v, want the one that was not at work", job)
	}
	gate <- struct{}{}
	if job := w.next(t); job.DocumentID == "innocent" || job.Blame != corpus.ServerBlame {
		t.Errorf("the last job is %+v, want the one that was blamed", job)
	}
	close(gate)
	eventuallyEmpty(t, q)
}
