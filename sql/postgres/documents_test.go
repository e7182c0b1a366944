package postgres

import (
	"testing"

	"footnote/corpus"
	"footnote/corpus/corpustest"
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

// TakeAndDie implements corpustest.Mortal: the job's lease ends at once, and it is put back.
func (q mortal) TakeAndDie(t *testing.T, kind corpus.JobKind) {
	t.Helper()
	if n, err := q.db.exec(t.Context(), shortTime, takeTurns, string(kind), 1, "a replica that dies"); err != nil || n != 1 {
		t.Fatalf("take a job: %d, %v", n, err)
	}
	exec(t, q.db, `UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state = 'running'`)
}
