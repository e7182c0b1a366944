package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

// River gives out jobs in the order they came. Here users take turns instead: a job gets the number of the turn it is
// for when it is added, one after its user's last, or after the turn that is served now for a user who has none
// waiting. The lowest turn is served first. $1 is the kind, $3 the user. The indexes river_job_turns and
// river_job_users serve it.
const nextTurn = `1 + greatest(
	(SELECT max((args->>'turn')::bigint) FROM river_job WHERE queue = $1 AND args->>'user' = $3 AND state IN ` +
	unfinished + `),
	coalesce((SELECT max((args->>'turn')::bigint) FROM river_job WHERE queue = $1 AND state = 'running'),
		(SELECT min((args->>'turn')::bigint) FROM river_job WHERE queue = $1 AND state = 'available'
			AND scheduled_at <= now())), 0)`

// takeTurns moves jobs to work as River's own statement does, in the order of turns, and counts what begins. Jobs that
// are to be done alone come first, those last that were blamed most: while any waits or is at work here, no other is
// taken. SKIP LOCKED gives replicas different jobs.
const takeTurns = `
	WITH here AS (SELECT count(*) AS jobs, count(*) FILTER (WHERE args ? 'alone') AS alone FROM river_job
		WHERE queue = $1 AND state = 'running' AND attempted_by = ARRAY[$3::text]),
	suspects AS (SELECT EXISTS (SELECT FROM river_job WHERE queue = $1 AND state = 'available' AND scheduled_at <= now()
		AND args @> '{"alone": true}') AS wait),
	next AS (SELECT id FROM river_job, here, suspects WHERE queue = $1 AND state = 'available' AND scheduled_at <= now()
			AND here.alone = 0 AND (NOT suspects.wait OR here.jobs = 0 AND args ? 'alone')
		ORDER BY CASE WHEN suspects.wait THEN coalesce((args->>'blame')::int, 0) END, (args->>'turn')::bigint, id
		LIMIT (SELECT CASE WHEN wait THEN 1 ELSE $2::bigint END FROM suspects) FOR UPDATE OF river_job SKIP LOCKED)
	UPDATE river_job SET state = 'running', attempt = attempt + 1, attempted_at = now(), attempted_by = ARRAY[$3::text],
		args = args - 'others' || jsonb_build_object('begun', coalesce((args->>'begun')::int, 0) + 1)
	FROM next WHERE river_job.id = next.id RETURNING river_job.id`

// turnDriver is River's driver but for the order in which it takes jobs. It embeds River's own, so that everything else
// stays River's.
type turnDriver struct {
	*riverpgxv5.Driver
	db *DB
}

var _ riverdriver.Driver[pgx.Tx] = turnDriver{}

// GetExecutor implements riverdriver.Driver.
func (d turnDriver) GetExecutor() riverdriver.Executor {
	return turnExecutor{d.Driver.GetExecutor(), d}
}

// turnExecutor is River's own executor but for JobGetAvailable.
type turnExecutor struct {
	riverdriver.Executor
	driver turnDriver
}

// JobGetAvailable implements riverdriver.Executor. Ids are taken by our statement, and the rows then read by River's
// own, which knows their form.
func (e turnExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	var taken riverdriver.JobGetAvailableResult
	err := e.driver.db.inTx(ctx, longTime, func(t *tx) error {
		ids, err := rowsOf(t.ctx, t.pgx, scanValue[int64], takeTurns, []any{p.Queue, p.MaxToLock, p.ClientID})
		if err != nil || len(ids) == 0 {
			return err
		}
		taken.Jobs, err = e.driver.UnwrapExecutor(t.pgx).JobGetByIDMany(
			t.ctx, &riverdriver.JobGetByIDManyParams{ID: ids, Schema: p.Schema},
		)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("take jobs: %w", err)
	}
	return &taken, nil
}
