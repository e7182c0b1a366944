package postgres

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// take moves the next job to work as a replica would that dies right after.
func take(t *testing.T, db *DB) {
	t.Helper()
	exec(
		t, db,
		`UPDATE river_job SET state = 'running', attempt = attempt + 1, attempted_at = now(), attempted_by = `+
			`ARRAY['the dead one']`,
	)
}

func TestAJobOfADeadReplicaIsDoneByAnother(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	for _, id := range []string{"dead", "alive"} {
		if err := q.Enqueue(t.Context(), corpus.Job{
			Kind: corpus.JobIngest, DocumentID: id, User: "u", SHA256: "x",
		}); err != nil {
			t.Fatal(err)
		}
	}
	take(t, db)
	exec(t, db, `UPDATE river_job SET attempted_at = now() - interval '21 seconds' WHERE args->>'document' = 'dead'`)
	ctx, cancel := context.WithCancel(t.Context())
	jobs := make(chan corpus.Job, 2)
	var wg sync.WaitGroup
	wg.Go(func() {
		err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
			corpus.JobIngest: {Jobs: 2, Do: func(_ context.Context, job corpus.Job) error {
				jobs <- job
				return nil
			}},
		})
		if err != nil {
			t.Errorf("Work: %v, want no error", err)
		}
	})
	if job := <-jobs; job.DocumentID != "dead" || job.Attempt != 2 {
		t.Errorf("job = %+v, want the dead replica's at its second attempt", job)
	}
	cancel()
	wg.Wait()
	if n, err := q.Waiting(t.Context()); err != nil || n != 1 || len(jobs) > 0 {
		t.Errorf("%d jobs are left, %v; the other replica's lease had not ended; want 1", n, err)
	}
}

func TestAJobIsFreshForTheFirstOnly(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	if err := q.Ensure(t.Context(), corpus.Job{
		Kind: corpus.JobEmbed, DocumentID: "d", User: "u", SHA256: "x", Fresh: true,
	}); err != nil {
		t.Fatal(err)
	}
	var told []bool
	// stopped in the middle, which does not count as an attempt, and done by another replica at last
	for round := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
			corpus.JobEmbed: {Jobs: 1, Do: func(work context.Context, job corpus.Job) error {
				told = append(told, job.Fresh)
				cancel()
				if round == 2 {
					return nil
				}
				<-work.Done()
				return work.Err()
			}},
		})
		if err != nil {
			t.Fatalf("Work: %v, want no error", err)
		}
	}
	if !slices.Equal(told, []bool{true, false, false}) {
		t.Errorf("the job was called fresh: %v, want the first time only", told)
	}
}

func TestNoJobOfABackupIsFresh(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	if err := q.Ensure(
		t.Context(), corpus.Job{Kind: corpus.JobEmbed, DocumentID: "d", User: "u", SHA256: "x", Fresh: true},
	); err != nil {
		t.Fatal(err)
	}
	exec(
		t, db, `CREATE TABLE copied AS TABLE river_job; TRUNCATE river_job; INSERT INTO river_job SELECT * FROM copied`,
	)
	ctx, cancel := context.WithCancel(t.Context())
	fresh := true
	err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
		corpus.JobEmbed: {Jobs: 1, Do: func(_ context.Context, job corpus.Job) error {
			fresh = job.Fresh
			cancel()
			return nil
		}},
	})
	if err != nil || fresh {
		t.Errorf("a job that was brought back is called fresh: %v; %v", fresh, err)
	}
}

func TestOtherReplicasHearOfADocumentsProgress(t *testing.T) {
	t.Parallel()
	url := server.Schema(t)
	one, two := openURL(t, url), openURL(t, url)
	d, _, err := one.Documents().Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: "a", SHA256: "a"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	heard := make(chan string, 8)
	var wg sync.WaitGroup
	wg.Go(func() { two.Listen(ctx, func(string) {}, func(id string) { heard <- id }, func() {}) })
	defer wg.Wait()
	defer cancel()
	if id := <-heard; id != "" {
		t.Fatalf("heard of %q first, want nothing", id)
	}
	if err := one.Documents().SetState(t.Context(), d.ID, "a", corpus.StateParsing, corpus.Progress{Stage: "parsing"},
		nil); err != nil {
		t.Fatal(err)
	}
	if id := <-heard; id != d.ID {
		t.Errorf("heard of %q, want %q", id, d.ID)
	}
}

// A replica whose clock is ahead may put a job off for as long. The others do not wait for that.
func TestAJobThatAWrongClockPutOffIsDone(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	q := db.Queue()
	if err := q.Enqueue(t.Context(), corpus.Job{
		Kind: corpus.JobIngest, DocumentID: "d", User: "u", SHA256: "x",
	}); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `UPDATE river_job SET scheduled_at = now() + interval '59 minutes'`)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		err := q.Work(ctx, map[corpus.JobKind]corpus.Worker{
			corpus.JobIngest: {Jobs: 1, Do: func(context.Context, corpus.Job) error {
				cancel()
				return nil
			}},
		})
		if err != nil {
			t.Errorf("Work: %v, want no error", err)
		}
	})
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
		t.Error("the job still waits")
		cancel()
	}
	wg.Wait()
}
