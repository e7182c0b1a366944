package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"footnote/corpus"
)

// Queue is the corpus.Queue of an open database. It is safe for concurrent use and lives as long as its DB.
type Queue struct {
	db *DB
}

var _ corpus.Queue = (*Queue)(nil)

// Queue returns the database's background work.
func (db *DB) Queue() *Queue { return &Queue{db: db} }

// Enqueue adds a job; see corpus.Queue. It survives power loss.
func (q *Queue) Enqueue(ctx context.Context, kind corpus.JobKind, documentID, sha256 string) error {
	err := q.db.write(ctx, true, func(t *tx) error {
		_, err := t.exec(`INSERT INTO jobs (kind, document, sha256) SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM jobs
			WHERE document = ?2 AND kind = ?1 AND sha256 = ?3 AND (leased = 0 OR ready_at <= ?4))`,
			kind, documentID, sha256, time.Now().UnixMicro())
		return err
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// Take gives a job to one caller; see corpus.Queue. A lease of 0 or less has ended at once.
func (q *Queue) Take(ctx context.Context, kind corpus.JobKind, lease time.Duration) (job corpus.Job, ok bool, err error) {
	const next = `SELECT n FROM jobs WHERE kind = ? AND ready_at <= ? ORDER BY n LIMIT 1`
	var n int64 // an empty queue is asked often: that must not keep the writer busy
	if err := q.db.queryRow(ctx, next, []any{kind, time.Now().UnixMicro()}, &n); err != nil {
		return job, false, noJob(err)
	}
	err = q.db.write(ctx, false, func(t *tx) error {
		now := time.Now()
		return t.queryRow(`UPDATE jobs SET leased = 1, attempt = attempt + 1, ready_at = ? WHERE n = (`+next+`)
			RETURNING n, kind, document, sha256, attempt, coalesce((SELECT user FROM documents WHERE id = document), '')`,
			[]any{now.Add(lease).UnixMicro(), kind, now.UnixMicro()},
			&job.ID, &job.Kind, &job.DocumentID, &job.SHA256, &job.Attempt, &job.User)
	})
	return job, err == nil, noJob(err)
}

func noJob(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return fmt.Errorf("take a job: %w", err)
}

// Extend prolongs a job's lease; see corpus.Queue. It fails with chat.CodeNotFound if the job is done.
func (q *Queue) Extend(ctx context.Context, id int64, lease time.Duration) error {
	return q.change(ctx, "extend a job", `UPDATE jobs SET ready_at = ? WHERE n = ? AND leased = 1`, time.Now().Add(lease).UnixMicro(), id)
}

// Done removes a job; see corpus.Queue. One that is gone already is no error.
func (q *Queue) Done(ctx context.Context, id int64) error {
	return q.db.write(ctx, false, func(t *tx) error {
		_, err := t.exec(`DELETE FROM jobs WHERE n = ?`, id)
		return err
	})
}

// Retry puts a job back; see corpus.Queue. It fails with chat.CodeNotFound if the job is done.
func (q *Queue) Retry(ctx context.Context, id int64, notBefore time.Time) error {
	return q.change(ctx, "put a job back", `UPDATE jobs SET leased = 0, ready_at = ? WHERE n = ?`, micros(notBefore), id)
}

func (q *Queue) change(ctx context.Context, op, statement string, args ...any) error {
	return q.db.write(ctx, false, func(t *tx) error {
		n, err := t.exec(statement, args...)
		return changedOne(n, err, op, "job")
	})
}

// Waiting returns how many jobs wait or are at work; see corpus.Queue.
func (q *Queue) Waiting(ctx context.Context) (n int, err error) {
	err = q.db.queryRow(ctx, `SELECT count(*) FROM jobs`, nil, &n)
	return n, err
}
