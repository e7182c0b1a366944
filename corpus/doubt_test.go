package corpus_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// english is an embedder that knows ASCII alone: all other letters are one unknown letter to it.
type english struct{ embedtest.Hashing }

func (e english) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	seen := make([]string, len(texts))
	for i, text := range texts {
		seen[i] = strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return 'x'
			}
			return r
		}, text)
	}
	return e.Hashing.Embed(ctx, seen)
}

func (e english) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := e.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Words of equal length look alike to an embedder that does not know their letters, so only those that are the same
// count.
func TestMeaningCountsOnlyWhereTheEmbedderKnowsTheScript(t *testing.T) {
	t.Parallel()
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Embedder, c.Vectors = english{}, db.Vectors("hashing")
	})
	sh.start(t)
	sh.add(t, "mill.txt", "Аренда старой мельницы у реки стоит сорок рублей и вносится весной.\n")
	sh.add(t, "lamp.txt", "Лампа белого маяка горит ночью.\n") // in shape it is the query
	sh.add(t, "rent.txt", "The rent of the old mill is forty pounds.\n")
	sh.wait(t)
	sh.allSemantic(t, corpus.SemanticReady)
	for query, want := range map[string]string{
		"Весна яркой мельницы стоит сорок": "mill.txt", "old mill rents": "rent.txt",
	} {
		for _, rerank := range []bool{false, true} {
			found := sh.search(t, corpus.Query{Text: query, Rerank: rerank})
			if got := titles(found); len(got) == 0 || got[0] != want || slices.Contains(got, "lamp.txt") {
				t.Errorf("%q, looked at again %v: %v, want %s first and no lamp", query, rerank, got, want)
			}
		}
	}
}
