package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
)

const (
	poll     = 5 * time.Second  // at the latest, a worker looks for jobs again
	lastWord = 10 * time.Second // to record how a job ended after it was stopped
)

// Work has jobs done; see corpus.Queue. It returns when ctx has ended and all workers with it. Jobs of an earlier
// process are freed once, before the first is taken. A failure of the freeing is no reason to stop: those leases end by
// themselves.
func (q *Queue) Work(ctx context.Context, workers map[corpus.JobKind]corpus.Worker) error {
	q.db.atWork.once.Do(func() {
		if err := q.freeJobs(ctx); err != nil {
			q.db.log.WarnContext(ctx, "jobs of an earlier process begin later", "error", err)
		}
	})
	var all sync.WaitGroup
	for kind, worker := range workers {
		all.Go(func() { q.workKind(ctx, kind, worker) })
	}
	all.Wait()
	return nil
}

// workKind takes jobs of a kind and has each done in a goroutine of its own, until ctx ends; it returns when all have
// ended. It sleeps until there is news, until the next job is due, or for poll, whichever is first; the millisecond
// keeps it from looking just before the time. While jobs wait for others, the end of one is the news.
func (q *Queue) workKind(ctx context.Context, kind corpus.JobKind, worker corpus.Worker) {
	slots := fair.NewSlots(worker.Jobs, cmp.Or(worker.PerUser, worker.Jobs))
	var jobs sync.WaitGroup
	defer jobs.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		news := q.db.atWork.watchNews() // before the look, so that nothing falls between
		now := time.Now()
		n, job, ok, held, err := q.takeJob(ctx, kind, now, slots)
		if err == nil && ok {
			jobs.Go(func() {
				q.runJob(ctx, n, job, worker.Do)
				slots.Leave(job.User)
				q.db.atWork.tellNews()
			})
			continue
		}
		wait := poll
		if err == nil && !held {
			var due time.Time
			if due, ok, err = q.nextTime(ctx, kind, now); err == nil && ok {
				wait = max(0, min(wait, time.Until(due)+time.Millisecond))
			}
		}
		if err != nil && ctx.Err() == nil {
			q.db.log.ErrorContext(ctx, "take a job", "kind", kind, "error", err)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-news:
		case <-timer.C:
		}
	}
}

// runJob does one job under its lease and puts it back or removes it. The lease's goroutine has ended before the job is
// closed, so it can't prolong what is over.
func (q *Queue) runJob(ctx context.Context, n int64, job corpus.Job, do func(context.Context, corpus.Job) error) {
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	q.db.atWork.beginJob(n, stopJob{job.DocumentID, stop})
	var lease sync.WaitGroup
	lease.Go(func() { q.prolongLease(work, n, job.Attempt, stop) })
	err := do(work, job)
	cause := context.Cause(work)
	q.db.atWork.endJob(n)
	stop(nil)
	lease.Wait()

	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWord)
	defer cancel()
	if err := q.closeJob(last, n, job.Attempt, err, cause); err != nil {
		q.db.log.ErrorContext(last, "end a job", "kind", job.Kind, "document", job.DocumentID, "error", err)
	}
}

// closeJob removes a job that is over and puts others back. A job that was stopped from outside counts no attempt and
// is due at once; one that failed waits by corpus.JobBackoff; one that was cancelled is gone.
func (q *Queue) closeJob(ctx context.Context, n int64, attempt int, err, cause error) error {
	switch {
	case err == nil, errors.Is(cause, corpus.ErrCancelled):
		_, err = q.changeJob(ctx, `DELETE FROM jobs WHERE n = ? AND attempt = ?`, n, attempt)
	// The server stops, or the lease was lost: neither is the job's fault.
	case cause != nil:
		_, err = q.changeJob(
			ctx, `UPDATE jobs SET leased = 0, ready_at = ?, attempt = attempt - 1 WHERE n = ? AND attempt = ?`,
			time.Now().UnixMicro(), n, attempt,
		)
	default:
		blame := 0
		if errors.Is(err, corpus.ErrReaderDied) {
			blame = corpus.ReaderBlame
		}
		_, err = q.changeJob(ctx, `UPDATE jobs SET leased = 0, ready_at = ?, alone = 0, blame = blame + ? WHERE n = ?
			AND attempt = ?`, time.Now().Add(corpus.JobBackoff(attempt)).UnixMicro(), blame, n, attempt)
	}
	return err
}

// prolongLease keeps a job's lease until ctx ends; work whose lease is lost stops. It renews at each quarter of the
// lease; one failure stops the work at once.
func (q *Queue) prolongLease(ctx context.Context, n int64, attempt int, stop context.CancelCauseFunc) {
	tick := time.NewTicker(corpus.JobLease / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			held, err := q.changeJob(
				ctx, `UPDATE jobs SET ready_at = ? WHERE n = ? AND attempt = ? AND leased = 1`,
				time.Now().Add(corpus.JobLease).UnixMicro(), n, attempt,
			)
			if err == nil && held || ctx.Err() != nil {
				continue
			}
			stop(fmt.Errorf("the lease of a job is lost: %w", err))
			return
		}
	}
}
