package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"

	"github.com/footnote/footnote/corpus"
)

const (
	riverVersion = 8                   // of River's tables; a newer one needs a migration
	leaseCheck   = corpus.JobLease / 4 // interval of renewing leases, and of searching expired ones
	finishedKept = time.Hour           // retention of finished jobs
	stopTime     = 20 * time.Second    // timeout for running jobs to stop and record their result
)

// migrateRiver creates River's tables as part of a migration, whose lock serialises replicas. River commits each of
// its migrations separately, as some depend on committed ones; existing ones are skipped.
func (db *DB) migrateRiver(t *tx) error {
	m, err := rivermigrate.New(riverpgxv5.New(db.pool), &rivermigrate.Config{Logger: quietLogger(db.log)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(t.ctx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{TargetVersion: riverVersion})
	return err
}

// Work runs jobs; see corpus.Queue. While the database is down it retries. The client starts with a context that is
// never cancelled, so that running jobs can be stopped and their results recorded.
func (q *Queue) Work(ctx context.Context, workers map[corpus.JobKind]corpus.Worker) error {
	queues := make(map[string]river.QueueConfig, len(workers))
	for kind, worker := range workers {
		queues[string(kind)] = river.QueueConfig{MaxWorkers: worker.Jobs}
	}
	registry := river.NewWorkers()
	driver := newTurnDriver(q.db, workers)
	if err := river.AddWorkerSafely(registry, &riverWorker{db: q.db, workers: workers, turns: driver}); err != nil {
		return fmt.Errorf("work: %w", err)
	}
	config := &river.Config{
		Queues: queues, Workers: registry, Logger: quietLogger(q.db.log), RetryPolicy: retries{},
		JobTimeout: -1, FetchCooldown: 5 * time.Millisecond, // documents may be small
		CompletedJobRetentionPeriod: finishedKept, CancelledJobRetentionPeriod: finishedKept,
	}
	var rescue sync.WaitGroup
	rescue.Go(func() { q.rescueDead(ctx) })
	defer rescue.Wait()
	for attempt := 1; ; attempt++ {
		client, err := river.NewClient(driver, config)
		if err != nil {
			return fmt.Errorf("work: %w", err)
		}
		if err = client.Start(context.WithoutCancel(ctx)); err == nil {
			<-ctx.Done()
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
			defer cancel()
			if err := client.StopAndCancel(last); err != nil {
				return fmt.Errorf("stop the work: %w", err)
			}
			return nil
		}
		q.db.log.WarnContext(ctx, "background work can't begin just now", "error", err)
		if !pauseRetry(ctx, attempts+attempt) {
			return nil
		}
	}
}

// retries is River's retry policy.
type retries struct{}

// NextRetry returns the time of a failed job's next attempt. The backoff counts completed attempts: those in which a
// process died are excluded.
func (retries) NextRetry(job *rivertype.JobRow) time.Time {
	var args jobArgs
	if err := json.Unmarshal(job.EncodedArgs, &args); err != nil { // River has decoded them before
		args = jobArgs{}
	}
	return time.Now().Add(corpus.JobBackoff(args.attemptOf(job.Attempt)))
}

// riverWorker runs jobs of all kinds.
type riverWorker struct {
	river.WorkerDefaults[jobArgs]
	db      *DB
	workers map[corpus.JobKind]corpus.Worker
	turns   turnDriver
}

// Work implements river.Worker. The job has a separate context: River's is cancelled with the client, which differs
// from a cancelled job. The result decides about the row: JobCancel cancels it, JobSnooze(0) puts it back without
// counting an attempt, and an error schedules a retry.
func (w *riverWorker) Work(ctx context.Context, row *river.Job[jobArgs]) error {
	job := corpus.Job{
		Kind: corpus.JobKind(row.Queue), DocumentID: row.Args.Document, User: row.Args.User, SHA256: row.Args.SHA256,
		Attempt: row.Args.attemptOf(row.Attempt), Blame: row.Args.Blame,
	}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer w.turns.leave(ctx, row.Queue, row.Args.User)
	defer context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), river.ErrJobCancelledRemotely) {
			stop(corpus.ErrCancelled)
		} else {
			stop(context.Cause(ctx))
		}
	})()
	var lease sync.WaitGroup
	lease.Go(func() { w.prolongLease(work, row.ID, row.Attempt, stop) })
	job.Fresh = row.Args.Fresh != "" && w.claimFirstNotice(work, row.ID)
	err := w.workers[job.Kind].Do(work, job)
	cause := context.Cause(work)
	stop(nil)
	lease.Wait()
	if err != nil {
		w.uncountAttempt(ctx, row.ID, cause == nil, errors.Is(err, corpus.ErrReaderDied))
	}
	switch {
	// The result decides whether River cancels the job, puts it back or retries it.
	case errors.Is(cause, corpus.ErrCancelled):
		return river.JobCancel(corpus.ErrCancelled)
	case err != nil && cause != nil:
		return river.JobSnooze(0)
	}
	return err
}

// uncountAttempt decrements the count of started attempts of a job that will run again. byItself means that the
// attempt was not interrupted, so that the job need not run alone. died means that the process that parsed the file
// was killed.
func (w *riverWorker) uncountAttempt(ctx context.Context, id int64, byItself, died bool) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTime)
	defer cancel()
	_, err := w.db.execStatement(last, shortTime,
		`UPDATE river_job SET args = CASE WHEN $2 THEN args - 'alone' ELSE args END || jsonb_build_object(
			'begun', (args->>'begun')::int - 1, 'blame', coalesce((args->>'blame')::int, 0) + CASE WHEN $2
			AND $3 THEN $4 ELSE 0 END)
		WHERE id = $1 AND (args->>'begun')::int > 0`, id, byItself, died, corpus.ReaderBlame)
	if err != nil {
		w.db.log.WarnContext(last, "how an attempt ended is not recorded", "job", id, "error", err)
	}
}

// claimFirstNotice reports whether the job is fresh and this is the first notification of that. On an error it returns
// false, so there is never a second one.
func (w *riverWorker) claimFirstNotice(ctx context.Context, id int64) bool {
	var is bool
	err := w.db.queryRow(ctx, longTime,
		`WITH told AS (UPDATE river_job job SET args = job.args - 'fresh' FROM river_job was
		WHERE job.id = $1 AND was.id = job.id AND job.args ? 'fresh' RETURNING was.args->>'fresh' = `+life+` AS same)
		SELECT coalesce((SELECT same FROM told), false)`, []any{id}, &is)
	return err == nil && is
}

// errLeaseLost cancels a job that another replica has taken over, or whose lease expired.
var errLeaseLost = errors.New("another replica took the job over")

// prolongLease renews a job's lease until ctx is cancelled. River has no leases and rescues a job only after an
// hour, so attempted_at, which it sets when a job starts, serves as the lease. While the database is down, the lease
// is valid until corpus.JobLease after the last renewal.
func (w *riverWorker) prolongLease(ctx context.Context, id int64, attempt int, stop context.CancelCauseFunc) {
	tick := time.NewTicker(leaseCheck)
	defer tick.Stop()
	for held := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := time.Now()
		n, err := w.db.execStatement(
			ctx, shortTime,
			`UPDATE river_job SET attempted_at = now() WHERE id = $1 AND state = 'running' AND attempt = $2`, id,
			attempt,
		)
		switch {
		case err == nil && n == 1:
			held = now
		case err == nil, time.Since(held) > corpus.JobLease:
			stop(errLeaseLost)
			return
		}
	}
}

// rescueDead puts back jobs with an expired lease, and those that a replica with a wrong clock scheduled beyond the
// maximum backoff, until ctx is cancelled. All replicas run it; row locks ensure that each job is put back once.
func (q *Queue) rescueDead(ctx context.Context) {
	tick := time.NewTicker(leaseCheck)
	defer tick.Stop()
	for {
		n, err := q.rescueJobs(ctx)
		if err != nil && ctx.Err() == nil {
			q.db.log.WarnContext(ctx, "look for jobs of dead replicas", "error", err)
		}
		if n > 0 {
			q.db.log.InfoContext(ctx, "jobs of a replica that died, or whose clock is wrong, are put back", "jobs", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// putBack returns jobs with an expired lease to the queue. The leases of one replica expire one by one, so its other
// running jobs are marked to keep the last one from being blamed. $2 is corpus.ServerBlame, $3 the delays by blame and
// $4 their number.
const putBack = `
	WITH dead AS (SELECT id, queue, attempted_by FROM river_job WHERE state = 'running'
		AND attempted_at < now() - make_interval(secs => $1)
		ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED),
	replicas AS (SELECT job.queue, job.attempted_by, count(*) AS jobs FROM river_job job
		WHERE state = 'running' AND EXISTS (SELECT FROM dead WHERE dead.queue = job.queue
			AND dead.attempted_by = job.attempted_by) GROUP BY 1, 2),
	others AS (UPDATE river_job SET args = args || '{"others": true}' WHERE id IN (SELECT job.id FROM river_job job
		JOIN replicas USING (queue, attempted_by)
		WHERE state = 'running' AND job.id NOT IN (SELECT id FROM dead) FOR UPDATE OF job SKIP LOCKED))
	UPDATE river_job job SET state = 'available', scheduled_at = now() + make_interval(secs => blamed.wait),
		args = job.args || jsonb_build_object('alone', true, 'blame', blamed.sum)
	FROM dead JOIN replicas USING (queue, attempted_by) JOIN river_job old USING (id),
		LATERAL (SELECT coalesce((old.args->>'blame')::int, 0) AS before) AS was,
		LATERAL (SELECT was.before +
			CASE WHEN replicas.jobs > 1 OR old.args ? 'others' THEN 0 ELSE $2 END AS sum) AS total,
		LATERAL (SELECT total.sum, CASE WHEN total.sum > was.before THEN ($3::float8[])[least(total.sum, $4)] ELSE 0 END
			AS wait) AS blamed
	WHERE job.id = dead.id`

// blameWaits are the delays of corpus.DeathBackoff in seconds, from a blame of 1.
var blameWaits = func() (waits [corpus.MostBlame]float64) {
	for i := range waits {
		waits[i] = corpus.DeathBackoff(i + 1).Seconds()
	}
	return waits
}()

// rescueJobs executes putBack once and returns the number of jobs it requeued.
func (q *Queue) rescueJobs(ctx context.Context) (n int64, err error) {
	if n, err = q.db.execStatement(ctx, shortTime, putBack, corpus.JobLease.Seconds(), corpus.ServerBlame,
		blameWaits[:], corpus.MostBlame); err != nil {
		return n, err
	}
	late, err := q.db.execStatement(ctx, shortTime, `UPDATE river_job SET state = 'available', scheduled_at = now()
		WHERE id IN (SELECT id FROM river_job
		WHERE state IN ('available', 'retryable', 'scheduled') AND scheduled_at > now() + make_interval(secs => $1)
		ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED)`, (corpus.JobBackoff(math.MaxInt) + time.Minute).Seconds())
	return n + late, err
}

// isNotFound reports whether a job no longer exists, by an error of River or the driver.
func isNotFound(err error) bool {
	return errors.Is(err, rivertype.ErrNotFound) || errors.Is(err, pgx.ErrNoRows)
}
