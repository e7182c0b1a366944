package corpus_test

import (
	"context"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/sqlite"
)

// gate is a database that keeps whoever reads a part of a text until it opens.
type gate struct {
	corpus.Documents
	mu       sync.Mutex
	at, most int // calls at work, now and at most
	entered  chan struct{}
	open     chan struct{}
}

func (g *gate) TextPart(ctx context.Context, s chat.Scope, id string, at int) (corpus.TextPart, error) {
	g.mu.Lock()
	g.at++
	g.most = max(g.most, g.at)
	g.mu.Unlock()
	g.entered <- struct{}{}
	<-g.open
	g.mu.Lock()
	g.at--
	g.mu.Unlock()
	return g.Documents.TextPart(ctx, s, id, at)
}

// Many readers of texts leave connections of the database to others.
func TestFewPartsOfTextsAreReadAtOnce(t *testing.T) {
	const readers = 50
	g := &gate{entered: make(chan struct{}, readers), open: make(chan struct{})}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		g.Documents, c.Documents = c.Documents, g
	})
	d := sh.add(t, "a.txt", "A text.")
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			if _, err := sh.TextPart(t.Context(), chat.Local, d.ID, 0); err != nil {
				t.Errorf("TextPart: %v, want no error", err)
			}
		})
	}
	<-g.entered
	<-g.entered
	close(g.open)
	wg.Wait()
	if g.most != 2 {
		t.Errorf("%d parts were read at once, want 2", g.most)
	}
}
