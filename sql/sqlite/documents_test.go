package sqlite

import (
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
	"github.com/footnote/footnote/corpus/fair"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	corpustest.TestDocuments(t, func(t *testing.T) corpus.Documents { return openNew(t).Documents() })
}

func TestLexical(t *testing.T) {
	t.Parallel()
	corpustest.TestLexical(t, func(t *testing.T) corpustest.LexicalStores {
		db := openNew(t)
		return corpustest.LexicalStores{Documents: db.Documents(), Lexical: db.Lexical()}
	})
}

func TestVectors(t *testing.T) {
	t.Parallel()
	corpustest.TestVectors(t, func(t *testing.T) corpus.Vectors { return openNew(t).Vectors("test") })
	corpustest.TestVectorModels(t, func(t *testing.T) func(string) corpus.Vectors {
		db := openNew(t)
		return func(model string) corpus.Vectors { return db.Vectors(model) }
	})
}

func TestQueue(t *testing.T) {
	t.Parallel()
	corpustest.TestQueue(t, func(t *testing.T) (one, two corpus.Queue) {
		db := openNew(t)
		return mortal{db.Queue()}, db.Queue()
	})
}

type mortal struct{ *Queue }

// TakeAndDie implements corpustest.Mortal: the next process frees what this one left at work.
func (q mortal) TakeAndDie(t *testing.T, kind corpus.JobKind, jobs int) {
	t.Helper()
	slots := fair.NewSlots(jobs, jobs)
	for range jobs {
		if _, _, ok, _, err := q.takeJob(t.Context(), kind, time.Now(), slots); err != nil || !ok {
			t.Fatalf("take a job: %v, %v", ok, err)
		}
	}
	if err := q.freeJobs(t.Context()); err != nil {
		t.Fatal(err)
	}
}
