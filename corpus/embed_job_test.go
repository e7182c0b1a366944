package corpus_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/embed/embedtest"
	"footnote/sql/sqlite"
)

// measured are documents that note the most passages that were read at once.
type measured struct {
	corpus.Documents
	most atomic.Int64
}

func (m *measured) Passages(ctx context.Context, s chat.Scope, id string, from, to int) ([]corpus.Passage, error) {
	list, err := m.Documents.Passages(ctx, s, id, from, to)
	m.most.Store(max(m.most.Load(), int64(len(list))))
	return list, err
}

func TestVectorsOfALargeDocumentAreMadeInBatches(t *testing.T) {
	docs := &measured{}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		docs.Documents = c.Documents
		c.Documents, c.Vectors, c.Embedder = docs, db.Vectors("hashing"), embedtest.Hashing{}
	})
	var long strings.Builder
	for i := range 2*corpus.MaxBatch + 1 {
		fmt.Fprintf(&long, "## Section %d\n\nThe words of section number%d.\n\n", i, i)
	}
	d := sh.add(t, "long.md", long.String())
	sh.start(t)
	for {
		now, changed, err := sh.Watch(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.Semantic == corpus.SemanticReady {
			if now.Passages <= 2*corpus.MaxBatch {
				t.Fatalf("the document has %d passages, too few to tell, want more than %d",
					now.Passages, 2*corpus.MaxBatch)
			}
			break
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("its vectors stayed %s", now.Semantic)
		}
	}
	if most := docs.most.Load(); most > corpus.MaxBatch {
		t.Errorf("%d passages were read at once, want at most %d", most, corpus.MaxBatch)
	}
	for _, i := range []int{0, corpus.MaxBatch, 2 * corpus.MaxBatch} {
		found := sh.search(t, corpus.Query{
			Text: fmt.Sprintf("words of section number%d", i), Mode: corpus.ModeSemantic, Limit: 20,
		})
		if !slices.ContainsFunc(found.Results, func(r corpus.Result) bool {
			return strings.Contains(r.Passage.Text, fmt.Sprintf("number%d.", i))
		}) {
			t.Errorf("section %d is not among the %d found by their vectors", i, len(found.Results))
		}
	}
}
