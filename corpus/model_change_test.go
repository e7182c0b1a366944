package corpus_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// other is another model with as many dimensions: its vectors are those of the first one backwards. It embeds passages
// only while the gate is open.
type other struct {
	embedtest.Hashing
	gate     chan struct{} // closed: open
	passages atomic.Int32
}

func (o *other) Model() string { return "other" }

func (o *other) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case <-o.gate:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	o.passages.Add(int32(len(texts)))
	vectors, err := o.Hashing.Embed(ctx, texts)
	for _, v := range vectors {
		slices.Reverse(v)
	}
	return vectors, err
}

func (o *other) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vector, err := o.Hashing.EmbedQuery(ctx, query)
	slices.Reverse(vector)
	return vector, err
}

// openModel opens a library whose vectors are noted under a name, and returns what ends its work.
func openModel(t *testing.T, dir string, e corpus.Embedder, name string) (*shelf, func()) {
	t.Helper()
	sh := openShelf(t, dir, func(c *corpus.Config, db *sqlite.DB) { c.Embedder, c.Vectors = e, db.Vectors(name) })
	return sh, sh.start(t)
}

// allSemantic waits until every document is in a state of its vectors.
func (sh *shelf) allSemantic(t *testing.T, want corpus.Semantic) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		docs, _, err := sh.List(t.Context(), chat.Local, corpus.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(docs, func(d corpus.Document) bool { return d.Semantic != want }) {
			return
		}
		select {
		case <-late:
			t.Fatalf("the vectors are not all %s: %v", want, docs)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestAnotherModelOfTheSameDimensionEmbedsAllDocumentsAgain(t *testing.T) {
	dir := t.TempDir()
	sh, stop := openModel(t, dir, embedtest.Hashing{}, "hashing")
	fill(t, sh)
	query := corpus.Query{Text: "elephants remember waterholes", Limit: 3}
	meaning := query
	meaning.Mode = corpus.ModeSemantic
	before := sh.search(t, meaning)
	stop()

	fresh := &other{gate: make(chan struct{})}
	sh, stop = openModel(t, dir, fresh, fresh.Model())
	sh.allSemantic(t, corpus.SemanticPending)
	if found := sh.search(t, query); titles(found)[0] != "elephant.md" || found.Results[0].Score < 0.99 {
		t.Errorf("while nothing is embedded %q are found, the first with %v; want elephant.md with all of the score",
			titles(found), found.Results[0].Score)
	}
	found := sh.search(t, meaning)
	if titles(found)[0] != "elephant.md" || !found.Partial || len(found.Notes) != 1 ||
		!strings.Contains(found.Notes[0], "still being prepared") {
		t.Errorf("by meaning meanwhile %q with the notes %q, partial %v; want elephant.md by words, and a note",
			titles(found), found.Notes, found.Partial)
	}
	close(fresh.gate)
	sh.allSemantic(t, corpus.SemanticReady)
	sh.wait(t)
	after := sh.search(t, meaning)
	if !slices.Equal(titles(after), titles(before)) || after.Partial || len(after.Notes) > 0 {
		t.Errorf("by meaning afterwards %q with the notes %q, partial %v; want %q", titles(after), after.Notes,
			after.Partial, titles(before))
	}
	for i, r := range after.Results {
		if got, want := *r.Cosine, *before.Results[i].Cosine; got-want > 1e-4 || want-got > 1e-4 {
			t.Errorf("result %d has a cosine of %v, want %v", i, got, want)
		}
	}
	stop()
}

func TestVectorsWithoutANotedModelAreKeptByTheModelThatMadeThem(t *testing.T) {
	for name, tt := range map[string]struct {
		e    corpus.Embedder
		made bool // anew
	}{"the same model": {embedtest.Hashing{}, false}, "another one": {&other{gate: opened()}, true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			sh, stop := openModel(t, dir, embedtest.Hashing{}, "") // as an earlier version
			fill(t, sh)
			stop()
			counting := &countingEmbedder{Embedder: tt.e}
			sh, stop = openModel(t, dir, counting, tt.e.Model())
			query := corpus.Query{Text: "elephants remember waterholes", Limit: 1, Mode: corpus.ModeSemantic}
			for late := time.After(time.Minute); ; {
				found := sh.search(t, query)
				if len(found.Results) > 0 && found.Results[0].Cosine != nil && !found.Partial {
					if got := titles(found); got[0] != "elephant.md" {
						t.Errorf("%q found by meaning, want elephant.md", got)
					}
					break
				}
				select {
				case <-late:
					t.Fatalf("by meaning nothing is found: %+v", found)
				case <-time.After(10 * time.Millisecond):
				}
			}
			stop()
			if made := counting.documents.Load() > 0; made != tt.made {
				t.Errorf("vectors of documents made: %v, want %v", made, tt.made)
			}
		})
	}
}

func opened() chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// countingEmbedder counts the requests with the passage about elephants alone: a document of its own.
type countingEmbedder struct {
	corpus.Embedder
	documents atomic.Int32
}

func (c *countingEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 1 && strings.Contains(texts[0], "waterholes") {
		c.documents.Add(1)
	}
	return c.Embedder.Embed(ctx, texts)
}
