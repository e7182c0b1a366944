package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/sql/store"
)

// Queue is the corpus.Queue of a database. It is safe for concurrent use and valid as long as its DB. Jobs are rows;
// a worker leases one for corpus.JobLease and renews the lease while it works. Users take turns, by fair.Slots; a
// job's turn orders those of one user.
type Queue struct{ db *DB }

var _ corpus.Queue = (*Queue)(nil)

// Queue returns the job queue.
func (db *DB) Queue() *Queue { return &Queue{db} }

// workState is the in-memory state that the queues of one DB share, as a single process has the file. It wakes idle
// workers, and cancels a job whose document was cancelled.
type workState struct {
	once    sync.Once
	mu      sync.Mutex
	stops   map[int64]stopJob // by jobs.n
	changed chan struct{}     // closed and replaced when a job was added or put back
}

// stopJob cancels a running job when its document is cancelled.
type stopJob struct {
	document string
	stop     context.CancelCauseFunc
}

// watchQueue returns a channel that is closed at the next change of the queue.
func (a *workState) watchQueue() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed == nil {
		a.changed = make(chan struct{})
	}
	return a.changed
}

// wakeWorkers wakes all idle workers. Busy ones query the queue afterwards anyway.
func (a *workState) wakeWorkers() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changed != nil {
		close(a.changed)
		a.changed = nil
	}
}

// beginJob registers a running job, so that it can be cancelled.
func (a *workState) beginJob(n int64, job stopJob) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stops == nil {
		a.stops = make(map[int64]stopJob)
	}
	a.stops[n] = job
}

// endJob removes a finished job.
func (a *workState) endJob(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.stops, n)
}

// cancelDocument cancels the running jobs of a document, with the cause corpus.ErrCancelled for closeJob.
func (a *workState) cancelDocument(document string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, job := range a.stops {
		if job.document == document {
			job.stop(corpus.ErrCancelled)
		}
	}
}

// Enqueue adds a job; see corpus.Queue. Its turn follows the user's last turn, or the current turn for a user
// without queued jobs.
func (q *Queue) Enqueue(ctx context.Context, job corpus.Job) error {
	return q.addJob(ctx, job, false)
}

// Ensure adds a job; see corpus.Queue. Unlike Enqueue it adds nothing while the same job is running.
func (q *Queue) Ensure(ctx context.Context, job corpus.Job) error { return q.addJob(ctx, job, true) }

// addJob adds a job unless the same job is queued or, with orAtWork, running. One statement does both atomically.
// The write is durable.
func (q *Queue) addJob(ctx context.Context, job corpus.Job, orAtWork bool) error {
	err := q.db.writeTx(ctx, true, func(t *tx) error {
		_, err := t.Exec(`INSERT INTO jobs (kind, document, sha256, user_id, turn) SELECT ?1, ?2, ?3, ?4, 1 + max(
				coalesce((SELECT max(turn) FROM jobs WHERE kind = ?1 AND user_id = ?4), 0),
				coalesce((SELECT max(turn) FROM jobs WHERE kind = ?1 AND leased = 1), (SELECT min(turn) FROM jobs
					WHERE kind = ?1 AND ready_at <= ?5), 0))
			WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE document = ?2 AND kind = ?1 AND sha256 = ?3
				AND (leased = 0 OR ready_at <= ?5 OR ?6))`,
			job.Kind, job.DocumentID, job.SHA256, job.User, time.Now().UnixMicro(), orAtWork)
		return err
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	q.db.atWork.wakeWorkers()
	return nil
}

// Prioritise makes a job the next one; see corpus.Queue. It swaps turns with the user's first job, so other users are
// not affected.
func (q *Queue) Prioritise(ctx context.Context, kind corpus.JobKind, documentID string) error {
	err := q.db.writeTx(ctx, false, func(t *tx) error {
		var own, first, turn, firstTurn int64
		var user string
		err := t.One(`SELECT n, turn, user_id FROM jobs WHERE document = ? AND kind = ? AND leased = 0
			ORDER BY n DESC LIMIT 1`, []any{documentID, kind}, &own, &turn, &user)
		if err == nil {
			err = t.One(`SELECT n, turn FROM jobs WHERE kind = ? AND user_id = ? AND leased = 0
				ORDER BY turn, n LIMIT 1`, []any{kind, user}, &first, &firstTurn)
		}
		if err != nil || first == own {
			return err
		}
		_, err = t.Exec(`UPDATE jobs SET turn = CASE n WHEN ?1 THEN ?2 ELSE ?3 END WHERE n IN (?1, ?4)`,
			own, firstTurn, turn, first)
		return err
	})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("hasten a job: %w", err)
	}
	return nil
}

// Cancel cancels all jobs of a document; see corpus.Queue. Queued jobs are deleted. A running one is cancelled, and
// closeJob deletes it.
func (q *Queue) Cancel(ctx context.Context, documentID string) error {
	err := q.db.writeTx(ctx, false, func(t *tx) error {
		_, err := t.Exec(`DELETE FROM jobs WHERE document = ? AND leased = 0`, documentID)
		return err
	})
	if err != nil {
		return fmt.Errorf("cancel jobs: %w", err)
	}
	q.db.atWork.cancelDocument(documentID)
	return nil
}

// Waiting returns the number of queued and running jobs; see corpus.Queue.
func (q *Queue) Waiting(ctx context.Context) (n int, err error) {
	err = q.db.queryRow(ctx, `SELECT count(*) FROM jobs`, nil, &n)
	return n, err
}

// dueUsers returns the users with due jobs of a kind. Suspects (alone = 1: a process died while they were running)
// come first: while there are any, it returns only the user of the first of them. The recursion reads one row of the
// index jobs_by_user for each user, independent of the number of jobs.
func (q *Queue) dueUsers(ctx context.Context, kind corpus.JobKind, at int64) (users []string, err error) {
	err = engine{q.db}.Autocommit(ctx, 0).Query(`WITH RECURSIVE u(id) AS (
			SELECT min(user_id) FROM jobs WHERE kind = $1 UNION ALL
			SELECT (SELECT min(user_id) FROM jobs WHERE kind = $1 AND user_id > u.id) FROM u WHERE u.id IS NOT NULL),
		suspect AS (SELECT user_id FROM jobs WHERE kind = $1 AND alone = 1 AND ready_at <= $2
			ORDER BY blame, turn, n LIMIT 1)
		SELECT user_id FROM suspect UNION ALL SELECT id FROM u WHERE id IS NOT NULL
			AND EXISTS (SELECT 1 FROM jobs WHERE kind = $1 AND user_id = u.id AND ready_at <= $2)
			AND NOT EXISTS (SELECT 1 FROM suspect)`, []any{string(kind), at}, func(rows store.Rows) error {
		users = nil
		for rows.Next() {
			var user string
			if err := rows.Scan(&user); err != nil {
				return err
			}
			users = append(users, user)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for jobs: %w", err)
	}
	return users, nil
}

// claimJob leases the first job of the next user, with a slot that the caller frees. ok is false without a job; held
// is true if jobs have to wait for running ones.
//
// Suspects run alone: such a job waits until no job of its kind is running, and none starts meanwhile. Otherwise
// another crash could not be attributed to it (docs/decisions/parsers.md). ready_at has the lease's expiry: a
// running job is due again when its lease has expired, without a sweep.
func (q *Queue) claimJob(
	ctx context.Context, kind corpus.JobKind, now time.Time, slots *fair.Slots,
) (n int64, job corpus.Job, ok, held bool, err error) {
	at := now.UnixMicro()
	// an empty queue is polled often, without the writer
	users, err := q.dueUsers(ctx, kind, at)
	if err != nil || len(users) == 0 {
		return 0, job, false, false, err
	}
	user, ok := slots.TryAcquire(users)
	if !ok {
		return 0, job, false, true, nil
	}
	err = q.db.writeTx(ctx, false, func(t *tx) error {
		var busy, suspects bool
		err := t.One(`SELECT EXISTS (SELECT 1 FROM jobs WHERE kind = ?1 AND leased = 1 AND ready_at > ?2),
			EXISTS (SELECT 1 FROM jobs WHERE kind = ?1 AND alone = 1 AND (leased = 1 OR ready_at <= ?2))`,
			[]any{kind, at}, &busy, &suspects)
		if err != nil {
			return err
		}
		const due = `SELECT n FROM jobs WHERE kind = ? AND ready_at <= ? AND user_id = ?`
		next := due + ` ORDER BY turn, n LIMIT 1`
		if suspects {
			next = due + ` AND alone = 1 ORDER BY blame, turn, n LIMIT 1`
			if busy {
				return sql.ErrNoRows
			}
		}
		return t.One(`UPDATE jobs SET leased = 1, attempt = attempt + 1, ready_at = ? WHERE n = (`+next+`)
			RETURNING n, kind, document, user_id, sha256, attempt, blame`,
			[]any{time.Now().Add(corpus.JobLease).UnixMicro(), kind, at, user}, &n, &job.Kind, &job.DocumentID,
			&job.User, &job.SHA256, &job.Attempt, &job.Blame)
	})
	if err == nil {
		return n, job, true, false, nil
	}
	slots.Release(user)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, job, false, true, nil
	}
	return 0, job, false, false, fmt.Errorf("take a job: %w", err)
}

// freeJobs puts back the running jobs of an earlier process, as a single process has the file. It blames a job that
// was the only one of its kind (GROUP BY kind HAVING count(*) = 1). Others are only suspects: their attempt does not
// count, and they run alone.
func (q *Queue) freeJobs(ctx context.Context) error {
	return q.db.writeTx(ctx, false, func(t *tx) error {
		rows, err := t.query(`SELECT n, blame FROM jobs WHERE leased = 1 GROUP BY kind HAVING count(*) = 1`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n int64
			var blame int
			if err := rows.Scan(&n, &blame); err != nil {
				return failure(err)
			}
			blame += corpus.ServerBlame
			if _, err := t.Exec(`UPDATE jobs SET blame = ?, ready_at = ?, leased = 0, attempt = attempt - 1, alone = 1
				WHERE n = ?`, blame, time.Now().Add(corpus.DeathBackoff(blame)).UnixMicro(), n); err != nil {
				return err
			}
		}
		if err := rows.Err(); err != nil {
			return failure(err)
		}
		_, err = t.Exec(`UPDATE jobs SET leased = 0, ready_at = 0, attempt = attempt - 1, alone = 1 WHERE leased = 1`)
		return err
	})
}

// nextTime returns when the next job of a kind is due after now; ok is false without one. It includes leases, as a
// job of a dead worker becomes due when its lease expires.
func (q *Queue) nextTime(ctx context.Context, kind corpus.JobKind, now time.Time) (due time.Time, ok bool, err error) {
	var at sql.NullInt64
	err = q.db.queryRow(
		ctx, `SELECT min(ready_at) FROM jobs WHERE kind = ? AND ready_at > ?`, []any{kind, now.UnixMicro()}, &at,
	)
	return time.UnixMicro(at.Int64), at.Valid, err
}

// changeJob changes a job if this attempt still holds it, else ok is false. The attempt in the statement's condition
// is the lease token: another worker that takes the job increments it.
func (q *Queue) changeJob(ctx context.Context, statement string, args ...any) (ok bool, err error) {
	err = q.db.writeTx(ctx, false, func(t *tx) error {
		n, err := t.Exec(statement, args...)
		ok = n > 0
		return err
	})
	return ok, err
}

const (
	poll     = 5 * time.Second  // polling interval
	lastWord = 10 * time.Second // timeout for recording the result of a cancelled job
)

// Work runs jobs; see corpus.Queue. It returns when ctx is cancelled and all workers have ended. It first frees the
// jobs of an earlier process once. A failure of that is only logged, as those leases expire.
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

// workKind takes jobs of a kind and runs each in a goroutine, until ctx is cancelled; it returns when all have
// ended. It sleeps until a change of the queue, the next due job, or poll, whichever is first. The extra millisecond
// avoids waking just before the due time. While jobs wait for others, the end of a job wakes it.
func (q *Queue) workKind(ctx context.Context, kind corpus.JobKind, worker corpus.Worker) {
	slots := fair.NewSlots(worker.Jobs, cmp.Or(worker.PerUser, worker.Jobs))
	var jobs sync.WaitGroup
	defer jobs.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		news := q.db.atWork.watchQueue() // before the query, so that no change is missed
		now := time.Now()
		n, job, ok, held, err := q.claimJob(ctx, kind, now, slots)
		if err == nil && ok {
			jobs.Go(func() {
				q.runJob(ctx, n, job, worker.Do)
				slots.Release(job.User)
				q.db.atWork.wakeWorkers()
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

// runJob runs one job under its lease and puts it back or deletes it. The renewing goroutine ends first, so it can't
// renew a closed job.
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

// closeJob deletes a finished or cancelled job and puts others back. An interrupted job counts no attempt and is due
// at once. A failed one is retried after corpus.JobBackoff.
func (q *Queue) closeJob(ctx context.Context, n int64, attempt int, err, cause error) error {
	switch {
	case err == nil, errors.Is(cause, corpus.ErrCancelled):
		_, err = q.changeJob(ctx, `DELETE FROM jobs WHERE n = ? AND attempt = ?`, n, attempt)
	// A shutdown or a lost lease is not the job's fault.
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

// prolongLease renews a job's lease at each quarter of it until ctx is cancelled. A failure cancels the job at once.
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
