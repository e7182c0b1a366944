package postgres

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/blobs"
	"footnote/corpus/embed/embedtest"
	"footnote/corpus/extract"
	"footnote/sql/sqlite"
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
	db, dir := openNew(t), t.TempDir()
	embedded, err := sqlite.Open(t.Context(), filepath.Join(dir, "vectors.db"), db.log)
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	originals, err := blobs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	vectors, reader := &noting{Vectors: embedded.Vectors()}, extract.New(nil)
	library, err := corpus.NewLibrary(corpus.Config{Documents: db.Documents(), Lexical: db.Lexical(), Vectors: vectors, Embedder: embedtest.Hashing{Dimensions: 16},
		Blobs: originals, Queue: db.Queue(), Formats: extract.Formats, Extractor: reader, Renderer: reader})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() {
		if err := library.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	defer work.Wait()
	defer cancel()
	for _, version := range []struct {
		text string
		want []string
	}{
		{"# Roof\n\nThe roof is sound.\n", []string{"insert"}},
		{"# Roof\n\nThe roof leaks.\n", []string{"upsert", "delete"}},
	} {
		d, _, err := library.Add(t.Context(), corpus.Upload{User: chat.LocalUser, Filename: "roof.md", Body: strings.NewReader(version.text)})
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
