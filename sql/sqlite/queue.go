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

// Queue is the corpus.Queue of an open database. It is safe for concurrent use and lives as long as its DB. Jobs are
// rows; a worker leases one for corpus.JobLease and prolongs that while it works. Users take turns, as fair.Slots has
// them; a job's turn orders those of one user.
type Queue struct{ db *DB }

var _ corpus.Queue = (*Queue)(nil)

// Queue returns the database's background work.
func (db *DB) Queue() *Queue { return &Queue{db} }

// atWork is what the queues of one DB know of each other. It is in memory, as one process has the file: it wakes
// workers that sleep, and stops a job whose document was cancelled.
type atWork struct {
	once  sync.Once
	mu    sync.Mutex
	stops map[int64]stopJob // by jobs.n
	news  chan struct{}     // closed and replaced when a job was added or put back
}

// stopJob ends a job that is at work here, when its document is cancelled.
type stopJob struct {
	document string
	stop     context.CancelCauseFunc
}

// watchNews returns a channel that is closed at the next news.
func (a *atWork) watchNews() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.news == nil {
		a.news = make(chan struct{})
	}
	return a.news
}

// tellNews wakes all workers that wait. Those who don't wait look by themselves.
func (a *atWork) tellNews() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.news != nil {
		close(a.news)
		a.news = nil
	}
}

// beginJob notes a job that begins here, so that it can be stopped.
func (a *atWork) beginJob(n int64, job stopJob) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stops == nil {
		a.stops = make(map[int64]stopJob)
	}
	a.stops[n] = job
}

// endJob forgets a job that has ended.
func (a *atWork) endJob(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.stops, n)
}

// cancelDocument ends the jobs of a document that are at work, with the cause that closeJob knows.
func (a *atWork) cancelDocument(document string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, job := range a.stops {
		if job.document == document {
			job.stop(corpus.ErrCancelled)
		}
	}
}

// Enqueue adds a job; see corpus.Queue. Its turn is one after its user's last, or after the turn that is served now
// for a user who has none waiting.
func (q *Queue) Enqueue(ctx context.Context, job corpus.Job) error {
	return q.addJob(ctx, job, false)
}

// Ensure adds a job; see corpus.Queue. Unlike Enqueue it adds nothing while the same job is at work.
func (q *Queue) Ensure(ctx context.Context, job corpus.Job) error { return q.addJob(ctx, job, true) }

// addJob adds a job unless the same job waits or, with orAtWork, is at work. It is one statement, so the turn and the
// look for the same job belong to one moment. It waits for the disk.
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
	q.db.atWork.tellNews()
	return nil
}

// Hasten puts a job first; see corpus.Queue. The job changes turns with the first of its user's own, so no other user's
// job is held up.
func (q *Queue) Hasten(ctx context.Context, kind corpus.JobKind, documentID string) error {
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

// Cancel ends all jobs of a document; see corpus.Queue. Jobs that wait are removed; one at work here is stopped, and
// closeJob removes it.
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

// Waiting returns how many jobs wait or are at work; see corpus.Queue.
func (q *Queue) Waiting(ctx context.Context) (n int, err error) {
	err = q.db.queryRow(ctx, `SELECT count(*) FROM jobs`, nil, &n)
	return n, err
}

// dueUsers returns the users of a kind's jobs whose time has come. Jobs under suspicion (alone = 1: a process died
// while they were at work) go first: while any waits, it returns the user of the first of them. The recursion reads one
// row of the index jobs_by_user for each user, however many jobs wait.
func (q *Queue) dueUsers(ctx context.Context, kind corpus.JobKind, at int64) (users []string, err error) {
	err = engine{q.db}.Alone(ctx, 0).Query(`WITH RECURSIVE u(id) AS (
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

// takeJob gives the first job of the user whose turn it is to one caller, with a slot that the caller gives back. ok is
// false when there is none, and held as well when jobs have to wait for others to end. Jobs under suspicion are done
// one at a time: such a job waits until nothing of its kind is at work, and nothing begins while it is. Otherwise its
// next death could not be told from another's (docs/decisions/parsers.md). The time of the lease is in ready_at: a job
// at work is due again when its lease has ended, with no sweep.
func (q *Queue) takeJob(
	ctx context.Context, kind corpus.JobKind, now time.Time, slots *fair.Slots,
) (n int64, job corpus.Job, ok, held bool, err error) {
	at := now.UnixMicro()
	// an empty queue is asked often: that must not keep the writer busy
	users, err := q.dueUsers(ctx, kind, at)
	if err != nil || len(users) == 0 {
		return 0, job, false, false, err
	}
	user, ok := slots.Take(users)
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
	slots.Leave(user)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, job, false, true, nil
	}
	return 0, job, false, false, fmt.Errorf("take a job: %w", err)
}

// freeJobs puts back what an earlier process left at work: this one alone has the file. It blames a job that was the
// only one of its kind. GROUP BY kind HAVING count(*) = 1 finds the jobs that were alone. Others are no more than
// suspects: their attempt is taken back and they are done one at a time.
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
				WHERE n = ?`, blame, time.Now().Add(corpus.BlameWait(blame)).UnixMicro(), n); err != nil {
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

// nextTime returns when the next job of a kind is due after now; ok is false when none will be. It looks at leases too,
// as a job whose worker died becomes due when its lease ends.
func (q *Queue) nextTime(ctx context.Context, kind corpus.JobKind, now time.Time) (due time.Time, ok bool, err error) {
	var at sql.NullInt64
	err = q.db.queryRow(
		ctx, `SELECT min(ready_at) FROM jobs WHERE kind = ? AND ready_at > ?`, []any{kind, now.UnixMicro()}, &at,
	)
	return time.UnixMicro(at.Int64), at.Valid, err
}

// changeJob changes a job that attempt attempt holds; ok is false when it no longer does. The attempt in the
// statement's condition is the token of the lease: one more was counted when another worker took the job.
func (q *Queue) changeJob(ctx context.Context, statement string, args ...any) (ok bool, err error) {
	err = q.db.writeTx(ctx, false, func(t *tx) error {
		n, err := t.Exec(statement, args...)
		ok = n > 0
		return err
	})
	return ok, err
}

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
