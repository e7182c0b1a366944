package postgres

import (
	"testing"

	"github.com/riverqueue/river/riverdriver"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/corpustest"
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

func TestQueue(t *testing.T) {
	t.Parallel()
	corpustest.TestQueue(t, func(t *testing.T) (one, two corpus.Queue) {
		url := server.Schema(t)
		return mortal{openURL(t, url).Queue()}, openURL(t, url).Queue()
	})
}

type mortal struct{ *Queue }

// TakeAndDie implements corpustest.Mortal: the jobs' leases end, one after the other, and what lives puts them back.
func (q mortal) TakeAndDie(t *testing.T, kind corpus.JobKind, jobs int) {
	t.Helper()
	driver := newTurnDriver(q.db, map[corpus.JobKind]corpus.Worker{kind: {Jobs: jobs}})
	taken, err := driver.GetExecutor().JobGetAvailable(t.Context(), &riverdriver.JobGetAvailableParams{
		Queue: string(kind), MaxToLock: jobs, ClientID: "a replica that dies",
	})
	if err != nil || len(taken.Jobs) != jobs {
		t.Fatalf("take jobs: %+v, %v; want %d", taken, err, jobs)
	}
	for range jobs {
		exec(
			t, q.db,
			`UPDATE river_job SET attempted_at = now() - interval '1 minute' WHERE id = (SELECT min(id) FROM `+
				`river_job WHERE state = 'running')`,
		)
		if n, err := q.rescueJobs(t.Context()); err != nil || n != 1 {
			t.Fatalf("rescue jobs: %d, %v; want 1", n, err)
		}
	}
}
