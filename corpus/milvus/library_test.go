package milvus

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/blobs"
	"footnote/corpus/embed/embedtest"
	"footnote/corpus/extract"
	"footnote/corpus/milvus/milvustest"
	"footnote/sql/sqlite"
)

// counting counts how often Milvus ranked.
type counting struct {
	*Store
	ranked atomic.Int32
}

func (c *counting) SearchHybrid(ctx context.Context, s chat.Scope, query []float32, words []corpus.TermWeight, documents []string, k int) ([]corpus.Hit, error) {
	c.ranked.Add(1)
	return c.Store.SearchHybrid(ctx, s, query, words, documents, k)
}

// embedder counts the texts that it makes vectors of. Those that speak of a skylight have to wait until gate is closed.
type embedder struct {
	embedtest.Hashing
	texts atomic.Int32
	gate  chan struct{}
}

func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.texts.Add(int32(len(texts)))
	if strings.Contains(texts[0], "has a skylight") {
		select {
		case <-e.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return e.Hashing.Embed(ctx, texts)
}

// newLibrary makes a library on a database in dir, which is the caller's to close.
func newLibrary(t testing.TB, dir string, vectors corpus.Vectors, embeds corpus.Embedder, apart bool) (*corpus.Library, *sqlite.DB) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "footnote.db"), slog.New(slog.DiscardHandler))
	mustDo(t, "open the database", err)
	originals, err := blobs.Open(filepath.Join(dir, "blobs"))
	mustDo(t, "open the originals", err)
	reader := extract.New(nil)
	library, err := corpus.NewLibrary(corpus.Config{Documents: db.Documents(), Lexical: db.Lexical(), Vectors: vectors, Embedder: embeds, Blobs: originals,
		Queue: db.Queue(), Extractor: reader, Renderer: reader, HybridApart: apart})
	mustDo(t, "NewLibrary", err)
	return library, db
}

// openLibrary opens a running library on a database in dir.
func openLibrary(t testing.TB, dir string, vectors corpus.Vectors, embeds corpus.Embedder, apart bool) (library *corpus.Library, stop func()) {
	t.Helper()
	library, db := newLibrary(t, dir, vectors, embeds, apart)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- library.Run(ctx) }()
	var once atomic.Bool
	stop = func() {
		if once.Swap(true) {
			return
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return library, stop
}

func add(t testing.TB, library *corpus.Library, name, body string) {
	t.Helper()
	_, _, err := library.Add(t.Context(), corpus.Upload{User: scope.User, Filename: name, Body: strings.NewReader(body)})
	mustDo(t, "Add "+name, err)
}

// topics are documents of several sections each.
func topics() map[string]string {
	files := make(map[string]string)
	things := []string{"roof", "cellar", "garden", "kitchen", "window", "chimney", "gutter", "fence"}
	states := []string{"is sound and dry", "leaks after heavy rain", "was renewed in spring by a craftsman from the village", "needs paint"}
	for i, thing := range things {
		var b strings.Builder
		fmt.Fprintf(&b, "# Report on the %s\n\n", thing)
		for j, state := range states {
			other := things[(i+j+1)%len(things)]
			fmt.Fprintf(&b, "## Part %d\n\n%s\n\n", j, strings.Repeat(fmt.Sprintf("The %s %s. Beside it the %s counts little. Number %d%d. ", thing, state, other, i, j), 1+(i+j)%3))
		}
		files[thing+".md"] = b.String()
	}
	return files
}

func found(t testing.TB, library *corpus.Library, q corpus.Query) (places []string, results corpus.Results) {
	t.Helper()
	results, err := library.Search(t.Context(), scope, q)
	mustDo(t, "Search "+q.Text, err)
	for _, r := range results.Results {
		places = append(places, fmt.Sprintf("%s:%d", r.Document.Filename, r.Passage.Start))
	}
	return places, results
}

// What Milvus ranks is what the library would rank: the same best passages with about the same scores, corrected words too. It is left
// what it can do, and no more.
func TestALibraryMayLeaveTheRankingToMilvus(t *testing.T) {
	t.Parallel()
	server := milvustest.ForTest(t, milvustest.Lite)
	store := &counting{Store: open(t, Config{Address: server.Address, Model: "test"})}
	embeds := &embedder{gate: make(chan struct{})}
	apart, _ := openLibrary(t, t.TempDir(), store, embeds, true)
	here, _ := openLibrary(t, t.TempDir(), open(t, Config{Address: server.Address, Collection: "here", Model: "test"}), &embedder{}, false)
	for name, body := range topics() {
		add(t, apart, name, body)
		add(t, here, name, body)
	}
	await(t, "everything has its vectors", func() bool { return apart.RankedApart(t.Context()) })
	mustDo(t, "Wait", here.Wait(t.Context(), scope, nil))
	if here.RankedApart(t.Context()) {
		t.Error("it ranks apart, and was not asked to")
	}
	for _, tt := range []struct {
		query  corpus.Query
		ranked int32 // by Milvus
	}{
		{corpus.Query{Text: "Is the roof sound?"}, 1},
		{corpus.Query{Text: "what leaks after rain in the cellar", Limit: 8}, 1},
		{corpus.Query{Text: "chimney renewed spring craftsman"}, 1},
		{corpus.Query{Text: "wndow paint"}, 2}, // corrected
		{corpus.Query{Text: `"was renewed in spring" gutter`}, 0},
		{corpus.Query{Text: "garden fence", Mode: corpus.ModeLexical}, 0},
		{corpus.Query{Text: "garden fence", Mode: corpus.ModeSemantic}, 0},
		{corpus.Query{Text: "garden fence", MinScore: 0.2}, 0},
	} {
		before := store.ranked.Load()
		got, results := found(t, apart, tt.query)
		if n := store.ranked.Load() - before; n != tt.ranked {
			t.Errorf("%+v: Milvus ranked %d times, want %d", tt.query, n, tt.ranked)
		}
		want, wanted := found(t, here, tt.query)
		if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
			t.Errorf("%+v: %q, want as here %q", tt.query, got, want)
			continue
		}
		same := 0
		for _, place := range got {
			if slices.Contains(want, place) {
				same++
			}
		}
		if same < len(want)-1 {
			t.Errorf("%+v: %q, want as here %q", tt.query, got, want)
		}
		for i := range got {
			if d := results.Results[i].Score - wanted.Results[i].Score; d > 0.02 || d < -0.02 {
				t.Errorf("%+v: result %d has %v, here %v", tt.query, i, results.Results[i].Score, wanted.Results[i].Score)
			}
		}
		if len(results.Corrected) != len(wanted.Corrected) || len(results.Notes) != len(wanted.Notes) {
			t.Errorf("%+v: corrected %v with notes %q, want %v with %q", tt.query, results.Corrected, results.Notes, wanted.Corrected, wanted.Notes)
		}
	}

	before := store.ranked.Load()
	if found(t, apart, corpus.Query{Text: "qqqq"}); store.ranked.Load() > before {
		t.Error("Milvus ranked by no word at all")
	}

	mustDo(t, "Pause", server.Pause())
	got, results := found(t, apart, corpus.Query{Text: "Is the roof sound?"})
	if len(got) == 0 || !strings.HasPrefix(got[0], "roof.md") || len(results.Notes) != 1 {
		t.Errorf("while Milvus says nothing: %q with notes %q", got, results.Notes)
	}
	mustDo(t, "Resume", server.Resume())
	await(t, "Milvus ranks again", func() bool {
		before := store.ranked.Load()
		_, results := found(t, apart, corpus.Query{Text: "Is the roof sound?"})
		return store.ranked.Load() > before && len(results.Notes) == 0
	})
	add(t, apart, "late.md", "# Attic\n\nThe attic has a skylight.\n")
	await(t, "a document is found as soon as it is read in", func() bool {
		got, _ := found(t, apart, corpus.Query{Text: "attic skylight"})
		return slices.Contains(got, "late.md:0") // by its words alone: it ties with what is nearest by meaning
	})
	if apart.RankedApart(t.Context()) {
		t.Error("Milvus ranks without a document that has no vectors yet")
	}
	close(embeds.gate)
	await(t, "Milvus ranks the new document too", func() bool { return apart.RankedApart(t.Context()) })
	if got, _ := found(t, apart, corpus.Query{Text: "attic skylight"}); len(got) == 0 || got[0] != "late.md:0" {
		t.Errorf("then %q is found", got)
	}
	fresh, db := newLibrary(t, t.TempDir(), store, embeds, true)
	if fresh.RankedApart(t.Context()) {
		t.Error("Milvus ranks before anybody looked what it has")
	}
	mustDo(t, "Close", db.Close())
}

// The server was updated, or Footnote was: no vector is made twice, and no search finds less meanwhile.
func TestALibraryAddsWordsWithoutEmbeddingAgain(t *testing.T) {
	t.Parallel()
	address, dir := milvustest.Shared(t, milvustest.Lite), t.TempDir()
	cfg := Config{Address: address, Collection: milvustest.Collection(t, address), Model: "test", Alone: true}
	old := open(t, cfg)
	old.refused = true // as if the server were older
	first, stop := openLibrary(t, dir, old, &embedder{}, true)
	for name, body := range topics() {
		add(t, first, name, body)
	}
	await(t, "the collection without words is complete", func() bool {
		counts, err := first.Count(t.Context(), scope)
		docs, _, listErr := first.List(t.Context(), scope, corpus.Filter{})
		return err == nil && listErr == nil && counts.Ready == len(topics()) &&
			!slices.ContainsFunc(docs, func(d corpus.Document) bool { return d.Semantic != corpus.SemanticReady })
	})
	stop()
	mustDo(t, "Close", old.Close())

	embeds, store := &embedder{}, open(t, cfg)
	second, _ := openLibrary(t, dir, store, embeds, true)
	queries := int32(0)
	await(t, "Milvus ranks by words", func() bool {
		got, results := found(t, second, corpus.Query{Text: "The roof is sound and dry", Mode: corpus.ModeSemantic})
		queries++
		if len(got) < 5 || !strings.HasPrefix(got[0], "roof.md") || len(results.Notes) > 0 {
			t.Fatalf("meanwhile it finds %q with notes %q", got, results.Notes)
		}
		return second.RankedApart(t.Context())
	})
	if n := embeds.texts.Load() - queries; n != 0 {
		t.Errorf("%d texts were embedded again", n)
	}
	if got, _ := found(t, second, corpus.Query{Text: "craftsman chimney"}); len(got) == 0 || !strings.HasPrefix(got[0], "chimney.md") {
		t.Errorf("then it finds %q", got)
	}
}
