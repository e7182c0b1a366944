package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// Queue is the corpus.Queue of a database, stored by River, for several replicas. It is safe for concurrent use and
// valid as long as its DB. River inserts, stores and deletes jobs; scheduling, leases and blame are statements of
// this package on River's table (docs/decisions/databases.md).
type Queue struct {
	db    *DB
	river *river.Client[pgx.Tx] // inserts and cancels; Work creates one that works
	err   error                 // error of creating river
}

var _ corpus.Queue = (*Queue)(nil)

// Queue returns the job queue.
func (db *DB) Queue() *Queue {
	client, err := river.NewClient(riverpgxv5.New(db.pool), &river.Config{Logger: quietLogger(db.log)})
	return &Queue{db: db, river: client, err: err}
}

// jobArgs is the payload of a River job. Its River queue is its corpus.JobKind. It is stored as jsonb, so fields are
// only added, and old jobs lack them.
type jobArgs struct {
	Document string `json:"document"`
	SHA256   string `json:"sha256"`
	User     string `json:"user"`
	Turn     int64  `json:"turn"`            // see queue_turns.go
	Fresh    string `json:"fresh,omitempty"` // life when a fresh job was added; removed when a replica reads it
	// Begun counts attempts that started and did not end, including this one: lock increments it, uncountAttempt
	// decrements it.
	Begun int `json:"begun,omitempty"`
	Blame int `json:"blame,omitempty"` // see corpus.Job
	// SQL statements use two more fields. "alone" marks a job whose last process died: it runs alone in its process
	// until an attempt ends. "others" marks a running job whose process also ran a job that was put back.
}

// Kind returns River's name of this payload type, which is stored in the database.
func (jobArgs) Kind() string { return "document" }

// attemptOf returns corpus.Job's Attempt of a job that River has started `taken` times. Attempts in which a process
// died do not count.
func (a jobArgs) attemptOf(taken int) int { return taken - max(a.Begun-1, 0) }

// maxTries is the column's maximum: corpus decides when to stop retrying.
const maxTries = 1<<15 - 1

// Enqueue adds a job; see corpus.Queue. A running one does not count as a duplicate, as it may have read the old
// file.
func (q *Queue) Enqueue(ctx context.Context, job corpus.Job) error {
	return q.addJob(ctx, job, waits)
}

// Ensure adds a job; see corpus.Queue. A running one counts as a duplicate.
func (q *Queue) Ensure(ctx context.Context, job corpus.Job) error {
	return q.addJob(ctx, job, unfinished)
}

// addJob adds a job unless the same is in one of the states. A lock on the document's ID until the commit prevents
// duplicates. River's unique keys can't do that, as a job may be added while the same is running.
func (q *Queue) addJob(ctx context.Context, job corpus.Job, states string) error {
	if q.err != nil {
		return fmt.Errorf("enqueue: %w", q.err)
	}
	queue, args := string(job.Kind), jobArgs{
		Document: legibleText(job.DocumentID), SHA256: legibleText(job.SHA256), User: legibleText(job.User),
	}
	same, err := store.ToJSON(map[string]string{"document": args.Document, "sha256": args.SHA256})
	if err != nil {
		return err
	}
	err = q.db.inTx(ctx, shortTime, func(t *tx) error {
		// The lock makes the statement below see other committed jobs.
		if err := t.Lock("job", args.Document); err != nil {
			return err
		}
		var waiting bool
		if err := t.One(`SELECT EXISTS (SELECT FROM river_job WHERE args @> $2::text::jsonb AND queue = $1
			AND state IN `+states+`), `+nextTurn, []any{queue, same, args.User}, &waiting,
			&args.Turn); err != nil || waiting {
			return err
		}
		made, err := q.river.InsertTx(t.ctx, t.pgx, args, &river.InsertOpts{Queue: queue, MaxAttempts: maxTries})
		if err != nil {
			return err
		}
		_, err = t.Exec(`UPDATE river_job
			SET scheduled_at = now(), args = CASE WHEN $2 THEN args || jsonb_build_object('fresh', `+life+`)
				ELSE args END
			WHERE id = $1`, made.Job.ID, job.Fresh) // River used this replica's clock
		return err
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// life is a constant until the server restarts or the table is restored from a backup. Vectors that were stored
// after a backup are still in Milvus after a restore: a job from another life is not fresh.
const life = `(extract(epoch FROM pg_postmaster_start_time())::text || ' ' || pg_relation_filenode('river_job'))`

// unfinished are the states of queued and running jobs.
const unfinished = `('available', 'pending', 'retryable', 'scheduled', 'running')`

// waits are the states of queued jobs.
const waits = `('available', 'pending', 'retryable', 'scheduled')`

// hasten swaps the turns of two jobs. Both rows are locked first, so no concurrent swap interferes.
const hasten = `WITH own AS (SELECT id, (args->>'turn')::bigint AS turn, args->>'user' AS owner FROM river_job
		WHERE queue = $1 AND args @> $2::text::jsonb AND state IN ` + waits + ` ORDER BY id DESC LIMIT 1 FOR UPDATE),
	first AS (SELECT id, (args->>'turn')::bigint AS turn FROM river_job
		WHERE queue = $1 AND args->>'user' = (SELECT owner FROM own) AND state IN ` + waits + `
		ORDER BY (args->>'turn')::bigint, id LIMIT 1 FOR UPDATE)
	UPDATE river_job SET args = jsonb_set(args, '{turn}',
		to_jsonb(CASE WHEN river_job.id = own.id THEN first.turn ELSE own.turn END))
	FROM own, first WHERE river_job.id IN (own.id, first.id) AND own.id <> first.id`

// Prioritise makes a job the next one; see corpus.Queue.
func (q *Queue) Prioritise(ctx context.Context, kind corpus.JobKind, documentID string) error {
	of, err := store.ToJSON(map[string]string{"document": legibleText(documentID)})
	if err != nil {
		return err
	}
	err = q.db.inTx(ctx, shortTime, func(t *tx) error {
		_, err := t.Exec(hasten, string(kind), of)
		return err
	})
	if err != nil {
		return fmt.Errorf("hasten a job: %w", err)
	}
	return nil
}

// Cancel cancels all jobs of a document; see corpus.Queue. River notifies the replica that runs one. Each job has a
// separate transaction, so a finished job does not prevent the cancellation of the others.
func (q *Queue) Cancel(ctx context.Context, documentID string) error {
	if q.err != nil {
		return fmt.Errorf("cancel jobs: %w", q.err)
	}
	of, err := store.ToJSON(map[string]string{"document": legibleText(documentID)})
	if err != nil {
		return err
	}
	ids, err := queryList(
		ctx, q.db, shortTime, scanValue[int64],
		`SELECT id FROM river_job WHERE args @> $1::text::jsonb AND state IN `+unfinished, of,
	)
	if err != nil {
		return fmt.Errorf("find jobs: %w", err)
	}
	for _, id := range ids {
		err := q.db.inTx(ctx, shortTime, func(t *tx) error {
			_, err := q.river.JobCancelTx(t.ctx, t.pgx, id)
			return err
		})
		if err != nil && !isNotFound(err) {
			return fmt.Errorf("cancel a job: %w", err)
		}
	}
	return nil
}

// Waiting returns the number of queued and running jobs; see corpus.Queue.
func (q *Queue) Waiting(ctx context.Context) (n int, err error) {
	err = q.db.queryRow(ctx, shortTime, `SELECT count(*) FROM river_job WHERE state IN `+unfinished, nil, &n)
	return n, err
}

// removeJobs deletes all jobs of documents. A running one ends when it finds its document deleted.
func removeJobs(t *tx, documents []string) error {
	for _, id := range documents {
		of, err := json.Marshal(map[string]string{"document": id})
		if err != nil {
			return err
		}
		if _, err := t.Exec(
			`DELETE FROM river_job WHERE args @> $1::text::jsonb AND state <> 'running'`, string(of),
		); err != nil {
			return err
		}
	}
	return nil
}

// quietLogger drops River's routine log messages.
func quietLogger(log *slog.Logger) *slog.Logger { return slog.New(quietHandler{log.Handler()}) }

// quietHandler drops messages below warnings, also for derived loggers with attributes.
type quietHandler struct{ slog.Handler }

// Enabled implements slog.Handler.
func (h quietHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (h quietHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h quietHandler) WithGroup(name string) slog.Handler {
	return quietHandler{h.Handler.WithGroup(name)}
}
