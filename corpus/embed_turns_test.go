package corpus_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/sqlite"
)

// watchedPassages are documents that close a channel when a user's passages are read.
type watchedPassages struct {
	corpus.Documents
	user string
	once sync.Once
	read chan struct{}
}

// Passages implements corpus.Documents.
func (w *watchedPassages) Passages(
	ctx context.Context, s chat.Scope, id string, from, to int,
) ([]corpus.Passage, error) {
	if s.User == w.user {
		w.once.Do(func() { close(w.read) })
	}
	return w.Documents.Passages(ctx, s, id, from, to)
}

func TestALongDocumentTakesTurnsWithAnotherUsers(t *testing.T) {
	embedder := gated{begun: make(chan string), goOn: make(chan struct{})}
	docs := &watchedPassages{user: "bert", read: make(chan struct{})}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		docs.Documents = c.Documents
		c.Documents, c.Vectors, c.Embedder = docs, db.Vectors("hashing"), embedder
	})
	sh.start(t)
	d := sh.add(t, "long.txt", strings.Repeat(longText(), 2))
	sh.settled(t, d.ID, corpus.StateReady)
	order := []string{<-embedder.begun}
	if _, _, err := sh.Add(t.Context(), corpus.Upload{
		User: "bert", Filename: "short.txt", Body: strings.NewReader("short speaks of the roof."),
	}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-docs.read: // the short document's job has begun beside the long one's
	case <-t.Context().Done():
		t.Fatal("the other user's document was not begun")
	}
	for range 3 {
		embedder.goOn <- struct{}{}
		order = append(order, <-embedder.begun)
	}
	embedder.goOn <- struct{}{}
	at := strings.Index(strings.Join(order, " "), "short.txt")
	if last := order[len(order)-1]; at < 0 || last != "long.txt" {
		t.Errorf("batches = %q, want the other user's within the next two, and then the long document's", order)
	}
}
