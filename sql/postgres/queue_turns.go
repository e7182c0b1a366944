package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/sql/store"
)

// nextTurn is the turn of a new job. River schedules jobs in FIFO order; here users take turns, by fair.Slots. The
// turn orders the jobs of one user: it follows the user's last turn, or the current turn for a user without queued
// jobs. $1 is the kind, $3 the user. The indexes river_job_turns and river_job_users serve it.
const nextTurn = `1 + greatest(
	(SELECT max((args->>'turn')::bigint) FROM river_job WHERE queue = $1 AND args->>'user' = $3 AND state IN ` +
	unfinished + `),
	coalesce((SELECT max((args->>'turn')::bigint) FROM river_job WHERE queue = $1 AND state = 'running'),
		(SELECT min((args->>'turn')::bigint) FROM river_job WHERE queue = $1 AND state = 'available'
			AND scheduled_at <= now())), 0)`

// dueUsers returns the users with due jobs of a kind, $1. While jobs have to run alone, it returns only the user of
// the first of them. The recursion reads one row of the index river_job_users for each user, independent of the
// number of jobs.
const dueUsers = `
	WITH RECURSIVE suspect AS (SELECT args->>'user' AS id FROM river_job WHERE queue = $1 AND state = 'available'
			AND scheduled_at <= now() AND args @> '{"alone": true}'
		ORDER BY coalesce((args->>'blame')::int, 0), (args->>'turn')::bigint, river_job.id LIMIT 1),
	u AS ((SELECT args->>'user' AS id FROM river_job WHERE queue = $1 AND state = 'available'
			AND scheduled_at <= now() ORDER BY args->>'user' LIMIT 1)
		UNION ALL SELECT (SELECT args->>'user' FROM river_job WHERE queue = $1 AND state = 'available'
			AND scheduled_at <= now() AND args->>'user' > u.id ORDER BY args->>'user' LIMIT 1)
			FROM u WHERE u.id IS NOT NULL)
	SELECT id FROM suspect UNION ALL SELECT id FROM u WHERE id IS NOT NULL AND NOT EXISTS (SELECT FROM suspect)`

// lock starts the next job of a user like River's own statement, and increments `begun`. Jobs that have to run
// alone come first, the least blamed before others. While one is queued or runs here, no other starts. SKIP LOCKED
// gives replicas different jobs. $1 is the kind, $2 the user, $3 the replica.
const takeTurn = `
	WITH here AS (SELECT count(*) AS jobs, count(*) FILTER (WHERE args ? 'alone') AS alone FROM river_job
		WHERE queue = $1 AND state = 'running' AND attempted_by = ARRAY[$3::text]),
	suspects AS (SELECT EXISTS (SELECT FROM river_job WHERE queue = $1 AND state = 'available' AND scheduled_at <= now()
		AND args @> '{"alone": true}') AS wait),
	next AS (SELECT id FROM river_job, here, suspects WHERE queue = $1 AND state = 'available' AND scheduled_at <= now()
			AND args->>'user' = $2
			AND here.alone = 0 AND (NOT suspects.wait OR here.jobs = 0 AND args ? 'alone')
		ORDER BY CASE WHEN suspects.wait THEN coalesce((args->>'blame')::int, 0) END, (args->>'turn')::bigint, id
		LIMIT 1 FOR UPDATE OF river_job SKIP LOCKED)
	UPDATE river_job SET state = 'running', attempt = attempt + 1, attempted_at = now(), attempted_by = ARRAY[$3::text],
		args = args - 'others' || jsonb_build_object('begun', coalesce((args->>'begun')::int, 0) + 1)
	FROM next WHERE river_job.id = next.id RETURNING river_job.id`

// turnDriver is River's driver with another scheduling order. It embeds River's own driver for everything else.
type turnDriver struct {
	*riverpgxv5.Driver
	db    *DB
	turns map[string]*turns // by River queue
}

// turns are the slots of one kind of job.
type turns struct {
	*fair.Slots
	held atomic.Bool // jobs wait for a slot
}

var _ riverdriver.Driver[pgx.Tx] = turnDriver{}

// newTurnDriver returns a driver for one client.
func newTurnDriver(db *DB, workers map[corpus.JobKind]corpus.Worker) turnDriver {
	d := turnDriver{riverpgxv5.New(db.pool), db, make(map[string]*turns, len(workers))}
	for kind, worker := range workers {
		d.turns[string(kind)] = &turns{Slots: fair.NewSlots(worker.Jobs, cmp.Or(worker.PerUser, worker.Jobs))}
	}
	return d
}

// GetExecutor implements riverdriver.Driver.
func (d turnDriver) GetExecutor() riverdriver.Executor {
	return turnExecutor{d.Driver.GetExecutor(), d}
}

// leave frees the slot of a finished job. If jobs wait for it, River is notified to fetch at once: by default it
// only does so after all of its workers were busy.
func (d turnDriver) leave(ctx context.Context, queue, user string) {
	t := d.turns[queue]
	t.Release(user)
	if !t.held.Swap(false) {
		return
	}
	payload, err := store.ToJSON(map[string]string{"queue": queue})
	if err == nil {
		err = d.Driver.GetExecutor().NotifyMany(ctx, &riverdriver.NotifyManyParams{
			Topic: "river_insert", Payload: []string{payload},
		})
	}
	if err != nil && ctx.Err() == nil {
		d.db.log.WarnContext(ctx, "waiting jobs begin later", "error", err)
	}
}

// turnExecutor is River's executor with another JobGetAvailable.
type turnExecutor struct {
	riverdriver.Executor
	driver turnDriver
}

// JobGetAvailable implements riverdriver.Executor. This package's statements lock the jobs one by one, and River's
// own statement then reads and decodes their rows.
func (e turnExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	var taken riverdriver.JobGetAvailableResult
	slots := e.driver.turns[p.Queue]
	slots.held.Store(true)
	var users []string // of the started jobs
	giveBack := func() {
		for _, user := range users {
			slots.Release(user)
		}
		users = nil
	}
	err := e.driver.db.inTx(ctx, longTime, func(t *tx) error {
		giveBack() // the transaction may be retried
		due, err := rowsOf(t.ctx, t.pgx, scanValue[string], dueUsers, []any{p.Queue})
		if err != nil {
			return err
		}
		var ids []int64
		for len(ids) < p.MaxToLock {
			user, ok := slots.TryAcquire(due)
			if !ok {
				break
			}
			users = append(users, user)
			id, err := rowsOf(t.ctx, t.pgx, scanValue[int64], takeTurn, []any{p.Queue, user, p.ClientID})
			if err != nil {
				return err
			}
			if ids = append(ids, id...); len(id) == 0 { // no further jobs of this user
				slots.Release(user)
				users = users[:len(users)-1]
				due = slices.DeleteFunc(due, func(u string) bool { return u == user })
			}
		}
		if len(due) == 0 {
			slots.held.Store(false)
		}
		if len(ids) == 0 {
			return nil
		}
		taken.Jobs, err = e.driver.UnwrapExecutor(t.pgx).JobGetByIDMany(
			t.ctx, &riverdriver.JobGetByIDManyParams{ID: ids, Schema: p.Schema},
		)
		return err
	})
	if err != nil {
		giveBack()
		return nil, fmt.Errorf("take jobs: %w", err)
	}
	return &taken, nil
}
