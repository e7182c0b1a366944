package milvus

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/corpus/milvus/milvustest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// newLibrary makes a library on a database in dir.
func newLibrary(t testing.TB, dir string, vectors corpus.Vectors) *librarytest.Library {
	t.Helper()
	return librarytest.Open(t, dir, func(c *corpus.Config, _ *sqlite.DB) {
		c.Vectors, c.Embedder = vectors, embedtest.Hashing{}
	})
}

// openLibrary opens a running library on a database in dir.
func openLibrary(t testing.TB, dir string, vectors corpus.Vectors) (library *corpus.Library, stop func()) {
	t.Helper()
	l := newLibrary(t, dir, vectors)
	ended := l.Start(t)
	return l.Library, sync.OnceFunc(func() {
		ended()
		if err := l.DB.Close(); err != nil {
			t.Error(err)
		}
	})
}

func add(t testing.TB, library *corpus.Library, name, body string) {
	t.Helper()
	_, _, err := library.Add(t.Context(), corpus.Upload{
		User: scope.User, Filename: name, Body: strings.NewReader(body),
	})
	mustDo(t, "Add "+name, err)
}

// topics are documents of several sections each.
func topics() map[string]string {
	files := make(map[string]string)
	things := []string{"roof", "cellar", "garden", "kitchen", "window", "chimney", "gutter", "fence"}
	states := []string{
		"is sound and dry", "leaks after heavy rain", "was renewed in spring by a craftsman from the village",
		"needs paint",
	}
	for i, thing := range things {
		var b strings.Builder
		fmt.Fprintf(&b, "# Report on the %s\n\n", thing)
		for j, state := range states {
			other := things[(i+j+1)%len(things)]
			fmt.Fprintf(&b, "## Part %d\n\n%s\n\n", j,
				strings.Repeat(
					fmt.Sprintf("The %s %s. Beside it the %s counts little. Number %d%d. ", thing, state, other, i,
						j), 1+(i+j)%3,
				))
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

// A library whose vectors are on Milvus finds by words alone while Milvus is away, and by both again once it is back.
func TestALibraryFindsByWordsWhileMilvusIsAway(t *testing.T) {
	t.Parallel()
	server := milvustest.ForTest(t, milvustest.Lite)
	library, _ := openLibrary(t, t.TempDir(), open(t, Config{Address: server.Address, Model: "test"}))
	for name, body := range topics() {
		add(t, library, name, body)
	}
	mustDo(t, "Wait", library.Wait(t.Context(), scope, nil))
	query := corpus.Query{Text: "Is the roof sound?"}
	await(t, "everything has its vectors", func() bool {
		docs, _, err := library.List(t.Context(), scope, corpus.Filter{})
		return err == nil &&
			!slices.ContainsFunc(docs, func(d corpus.Document) bool { return d.Semantic != corpus.SemanticReady })
	})
	if got, results := found(t, library, query); len(got) == 0 || !strings.HasPrefix(got[0], "roof.md") ||
		len(results.Notes) != 0 {
		t.Errorf("found %q with notes %q, want roof.md first and no notes", got, results.Notes)
	}
	mustDo(t, "Pause", server.Pause())
	if got, results := found(t, library, query); len(got) == 0 || !strings.HasPrefix(got[0], "roof.md") ||
		len(results.Notes) != 1 {
		t.Errorf("while Milvus is away: found %q with notes %q, want roof.md first and one note", got, results.Notes)
	}
	mustDo(t, "Resume", server.Resume())
	await(t, "Milvus takes part again", func() bool {
		_, results := found(t, library, query)
		return len(results.Notes) == 0
	})
}
