package postgres

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// noting notes how vectors are stored. They are the embedded mode's own.
type noting struct {
	*sqlite.Vectors
	mu   sync.Mutex
	done []string
}

func (n *noting) note(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.done = append(n.done, what)
}

func (n *noting) Insert(ctx context.Context, vs []corpus.Vector) error {
	n.note("insert")
	return n.Vectors.Upsert(ctx, vs)
}

func (n *noting) Upsert(ctx context.Context, vs []corpus.Vector) error {
	n.note("upsert")
	return n.Vectors.Upsert(ctx, vs)
}

func (n *noting) DeleteVectors(ctx context.Context, id string, keep []string) error {
	n.note("delete")
	return n.Vectors.DeleteVectors(ctx, id, keep)
}

// A document's first vectors are stored without looking for older ones; those of its next version replace them.
func TestOnlyTheFirstVectorsOfADocumentAreInserted(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	vectors := &noting{}
	library := librarytest.Open(t, t.TempDir(), func(c *corpus.Config, embedded *sqlite.DB) {
		vectors.Vectors = embedded.Vectors("hashing")
		c.Documents, c.Lexical, c.Queue = db.Documents(), db.Lexical(), db.Queue()
		c.Vectors, c.Embedder = vectors, embedtest.Hashing{Dimensions: 16}
	})
	library.Start(t)
	for _, version := range []struct {
		text string
		want []string
	}{
		{"# Roof\n\nThe roof is sound.\n", []string{"insert"}},
		{"# Roof\n\nThe roof leaks.\n", []string{"upsert", "delete"}},
	} {
		d, _, err := library.Add(t.Context(), corpus.Upload{
			User: chat.LocalUser, Filename: "roof.md", Body: strings.NewReader(version.text),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := library.Wait(t.Context(), chat.Local, nil); err != nil {
			t.Fatal(err)
		}
		tick := time.NewTicker(10 * time.Millisecond)
		for d.Semantic != corpus.SemanticReady { // the vectors come after the words
			<-tick.C
			if d, err = library.Document(t.Context(), chat.Local, d.ID); err != nil {
				t.Fatal(err)
			}
		}
		tick.Stop()
		vectors.mu.Lock()
		if !slices.Equal(vectors.done, version.want) {
			t.Errorf("%q was stored by %v, want %v", version.text, vectors.done, version.want)
		}
		vectors.done = nil
		vectors.mu.Unlock()
	}
}
