package postgres

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/sqlite"
)

func TestSearchesFindTheSameAsInTheEmbeddedMode(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	embedded, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "footnote.db"), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer embedded.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		name := fmt.Sprint("document ", i)
		c := benchContent(random, corpus.Document{ID: name, SHA256: name}, 5)
		for _, ds := range []corpus.Documents{db.Documents(), embedded.Documents()} {
			d, _, err := ds.Put(t.Context(), corpus.Document{User: chat.LocalUser, Path: name, SHA256: name})
			if err == nil {
				err = ds.PutContent(t.Context(), d.ID, c)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	here, there := db.Lexical(), embedded.Lexical()
	found := 0
	for range 300 {
		var q corpus.LexicalQuery
		for range 1 + random.IntN(5) {
			q.Words = append(q.Words, []string{
				benchWord(zipf(random, 10, 20_000)), benchWord(zipf(random, 10, 20_000)),
			})
		}
		if random.IntN(4) == 0 {
			q.Phrases = [][]string{{benchWord(zipf(random, 5, 20)), benchWord(zipf(random, 5, 20))}}
		}
		got, want := passagesOf(t, here, q), passagesOf(t, there, q)
		if !slices.Equal(got, want) {
			t.Errorf("%+v finds\n%v here and\n%v in the embedded mode", q, got, want)
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("only %d passages were found in all, want at least 1000", found)
	}
}

func passagesOf(t *testing.T, l corpus.Lexical, q corpus.LexicalQuery) (ids []string) {
	t.Helper()
	hits, err := l.SearchLexical(t.Context(), chat.Local, q, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range hits {
		ids = append(ids, fmt.Sprintf("%s with %.4f", hit.PassageID, hit.Share))
	}
	return ids
}
