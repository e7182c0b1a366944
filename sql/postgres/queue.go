package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"footnote/corpus"
)

// Queue is the corpus.Queue of a database, for any number of replicas. It is safe for concurrent use and lives as long as its DB.
type Queue struct {
	db *DB
}

var _ corpus.Queue = (*Queue)(nil)

// Queue returns the database's background work.
func (db *DB) Queue() *Queue { return &Queue{db: db} }

// Enqueue adds a job; see corpus.Queue. It survives power loss.
func (q *Queue) Enqueue(ctx context.Context, kind corpus.JobKind, documentID, sha256 string) error {
	err := q.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := t.lock("job", documentID); err != nil { // so that the statement below sees what another has just added
			return err
		}
		_, err := t.exec(`INSERT INTO jobs (kind, document, sha256) SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT FROM jobs
			WHERE document = $2 AND kind = $1 AND sha256 = $3 AND (NOT leased OR ready_at <= now_micros()))`, string(kind), documentID, sha256)
		return err
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// Take gives a job to one caller; see corpus.Queue. A lease of 0 or less has ended at once.
func (q *Queue) Take(ctx context.Context, kind corpus.JobKind, lease time.Duration) (job corpus.Job, ok bool, err error) {
	err = q.db.queryRow(ctx, longTime, `
		UPDATE jobs SET leased = true, attempt = attempt + 1, ready_at = now_micros() + $2::bigint
		WHERE n = (SELECT n FROM jobs WHERE kind = $1 AND ready_at <= now_micros() ORDER BY n LIMIT 1 FOR UPDATE SKIP LOCKED)
		RETURNING n, kind, document, sha256, attempt, coalesce((SELECT user_id FROM documents WHERE id = document), '')`,
		[]any{string(kind), lease.Microseconds()}, &job.ID, &job.Kind, &job.DocumentID, &job.SHA256, &job.Attempt, &job.User)
	if errors.Is(err, pgx.ErrNoRows) {
		return job, false, nil
	}
	if err != nil {
		return job, false, fmt.Errorf("take a job: %w", err)
	}
	return job, true, nil
}

// Extend prolongs a job's lease; see corpus.Queue. It fails with chat.CodeNotFound if the job is done.
func (q *Queue) Extend(ctx context.Context, id int64, lease time.Duration) error {
	return q.change(ctx, "extend a job", `UPDATE jobs SET ready_at = now_micros() + $1::bigint WHERE n = $2 AND leased`, lease.Microseconds(), id)
}

// Done removes a job; see corpus.Queue. One that is gone already is no error.
func (q *Queue) Done(ctx context.Context, id int64) error {
	if _, err := q.db.exec(ctx, longTime, `DELETE FROM jobs WHERE n = $1`, id); err != nil {
		return fmt.Errorf("remove a job: %w", err)
	}
	return nil
}

// Retry puts a job back; see corpus.Queue. It fails with chat.CodeNotFound if the job is done.
func (q *Queue) Retry(ctx context.Context, id int64, notBefore time.Time) error {
	return q.change(ctx, "put a job back", `UPDATE jobs SET leased = false, ready_at = $1 WHERE n = $2`, micros(notBefore), id)
}

func (q *Queue) change(ctx context.Context, op, statement string, args ...any) error {
	n, err := q.db.exec(ctx, longTime, statement, args...)
	return changedOne(n, err, op, "job")
}

// Waiting returns how many jobs wait or are at work; see corpus.Queue.
func (q *Queue) Waiting(ctx context.Context) (n int, err error) {
	err = q.db.queryRow(ctx, shortTime, `SELECT count(*) FROM jobs`, nil, &n)
	return n, err
}
