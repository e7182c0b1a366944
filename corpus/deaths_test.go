package corpus_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// byHand is a queue whose jobs the test has done.
type byHand struct {
	corpus.Queue
	work chan map[corpus.JobKind]corpus.Worker
}

func (q byHand) Work(ctx context.Context, workers map[corpus.JobKind]corpus.Worker) error {
	q.work <- workers
	<-ctx.Done()
	return nil
}

// counting counts the jobs for vectors that are queued behind the others.
type counting struct {
	byHand
	embeds *int
}

func (q counting) Enqueue(ctx context.Context, job corpus.Job) error {
	if job.Kind == corpus.JobEmbed {
		*q.embeds++
	}
	return q.byHand.Enqueue(ctx, job)
}

func TestVectorsThatEndTheServerThreeTimesFailAndTheWordsStay(t *testing.T) {
	q := counting{byHand{work: make(chan map[corpus.JobKind]corpus.Worker, 1)}, new(int)}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		q.Queue = db.Queue()
		c.Queue, c.Vectors, c.Embedder = q, db.Vectors("hashing"), embedtest.Hashing{}
	})
	sh.start(t)
	d := sh.add(t, "a.txt", "The roof is sound.")
	workers := <-q.work
	do := func(job corpus.Job) corpus.Document {
		t.Helper()
		job.DocumentID, job.User, job.SHA256 = d.ID, d.User, d.SHA256
		if err := workers[job.Kind].Do(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		now, err := sh.Document(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	do(corpus.Job{Kind: corpus.JobIngest, Attempt: 1})
	got := do(corpus.Job{Kind: corpus.JobEmbed, Attempt: 1, Blame: corpus.MostBlame})
	if got.State != corpus.StateReady ||
		got.Semantic != corpus.SemanticFailed || got.Progress.Stage != "ready" {
		t.Errorf("after too many deaths: %s, vectors %s, %s; want it ready without vectors", got.State, got.Semantic,
			got.Progress.Stage)
	}
	if found := sh.search(t, corpus.Query{Text: "roof", Mode: corpus.ModeLexical}); len(found.Results) != 1 {
		t.Errorf("%d passages are found by words, want 1", len(found.Results))
	}
	if err := errors.Join(sh.Delete(t.Context(), chat.Local, d.ID),
		sh.Restore(t.Context(), chat.Local, d.ID)); err != nil || *q.embeds != 0 {
		t.Errorf("what is left to do is queued again: %d jobs for vectors, %v; want none", *q.embeds, err)
	}
	if err := sh.Retry(t.Context(), chat.Local, d.ID); err != nil {
		t.Errorf("Retry: %v, want no error", err)
	}
	if got := do(corpus.Job{Kind: corpus.JobEmbed, Attempt: 1}); got.Semantic != corpus.SemanticReady ||
		*q.embeds != 1 {
		t.Errorf("tried again: vectors %s after %d jobs, want them ready after 1", got.Semantic, *q.embeds)
	}
}

// dying is an extractor whose process is ended each time.
type dying struct{ read *int }

func (e dying) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	*e.read++
	return corpus.Extracted{}, corpus.ErrReaderDied
}

func TestAFileThatEndsItsProcessThreeTimesFails(t *testing.T) {
	for _, tt := range []struct {
		name string
		jobs []corpus.Job
		read int // how often the file is opened
	}{
		{"the process that reads it", []corpus.Job{
			{Attempt: 1}, {Attempt: 2, Blame: corpus.ReaderBlame}, {Attempt: 3, Blame: 2 * corpus.ReaderBlame},
		}, 3},
		{"the process that reads it, after other failures",
			[]corpus.Job{
				{Attempt: 7}, {Attempt: 8, Blame: corpus.ReaderBlame}, {Attempt: 9, Blame: 2 * corpus.ReaderBlame},
			}, 3},
		{"the server", []corpus.Job{{Attempt: 1, Blame: 6 * corpus.ServerBlame}}, 0},
		{"the server, then the process that reads it", []corpus.Job{{Attempt: 1, Blame: 4 * corpus.ServerBlame}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read := 0
			q := byHand{work: make(chan map[corpus.JobKind]corpus.Worker, 1)}
			sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
				q.Queue = db.Queue()
				c.Queue, c.Extractor = q, dying{&read}
			})
			sh.start(t)
			d := sh.add(t, "a.txt", "one")
			do := (<-q.work)[corpus.JobIngest].Do
			for i, job := range tt.jobs {
				job.Kind, job.DocumentID, job.User, job.SHA256 = corpus.JobIngest, d.ID, d.User, d.SHA256
				err := do(t.Context(), job)
				if last := i == len(tt.jobs)-1; last && err != nil || !last && !errors.Is(err, corpus.ErrReaderDied) {
					t.Errorf("attempt %d: %v", job.Attempt, err)
				}
			}
			d, err := sh.Document(t.Context(), chat.Local, d.ID)
			if err != nil {
				t.Fatal(err)
			}
			if d.State != corpus.StateFailed || d.Error == nil ||
				!strings.Contains(d.Error.Detail, "Reading this file failed ") || read != tt.read {
				t.Errorf("the document is %s (%v) after %d readings, want it failed after %d", d.State, d.Error,
					read, tt.read)
			}
		})
	}
}

// absent is an extractor whose processes don't start.
type absent struct{}

func (absent) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	return corpus.Extracted{}, &chat.Error{Code: chat.CodeUnavailable, Message: "The process does not start."}
}

func TestReadersThatDoNotStartFailNoDocument(t *testing.T) {
	q := byHand{work: make(chan map[corpus.JobKind]corpus.Worker, 1)}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		q.Queue = db.Queue()
		c.Queue, c.Extractor = q, absent{}
	})
	sh.start(t)
	d := sh.add(t, "a.txt", "one")
	do := (<-q.work)[corpus.JobIngest].Do
	for attempt := range 50 {
		err := do(t.Context(), corpus.Job{
			Kind: corpus.JobIngest, DocumentID: d.ID, User: d.User, SHA256: d.SHA256, Attempt: attempt + 1,
		})
		if now, getErr := sh.Document(t.Context(), chat.Local, d.ID); err == nil || getErr != nil ||
			now.State == corpus.StateFailed {
			t.Fatalf("attempt %d: %v; the document is %s (%v), want it tried again", attempt+1, err, now.State, getErr)
		}
	}
}
