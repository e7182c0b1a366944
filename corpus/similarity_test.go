package corpus_test

import (
	"context"
	"errors"
	"math"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/sql/sqlite"
)

// bent is an embedder whose vectors have a direction in common, as those of many models do, so that its cosines are
// others for the same texts. It may refuse.
type bent struct {
	embedtest.Hashing
	common float64      // of the square of each vector
	texts  atomic.Int32 // embedded until now
	most   atomic.Int32 // texts that it embeds before it refuses; 0: all
}

func (b *bent) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if most := b.most.Load(); most > 0 && b.texts.Load() >= most {
		return nil, errors.New("dial tcp 127.0.0.1:1: connection refused")
	}
	b.texts.Add(int32(len(texts)))
	vectors, err := b.Hashing.Embed(ctx, texts)
	for i, v := range vectors {
		for k := range v {
			v[k] *= float32(math.Sqrt(1 - b.common))
		}
		vectors[i] = append(v, float32(math.Sqrt(b.common)))
	}
	return vectors, err
}

func (b *bent) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := b.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func openBent(t *testing.T, e *bent) *shelf {
	t.Helper()
	return openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Embedder, c.Vectors = e, db.Vectors(e.Model())
	})
}

func TestScoresMeanTheSameWithEveryEmbedder(t *testing.T) {
	query := corpus.Query{Text: "how was the mortar on the north slope made", Mode: corpus.ModeSemantic, Limit: 50}
	want := map[string]float64{}
	for _, common := range []float64{0, 0.5, 0.9} {
		sh := openBent(t, &bent{common: common})
		sh.start(t)
		fill(t, sh)
		found := sh.search(t, query).Results
		if len(found) < len(shelfOf) {
			t.Fatalf("%d results, want at least %d", len(found), len(shelfOf))
		}
		for i, r := range found {
			if i > 0 && r.Score > found[i-1].Score {
				t.Errorf("%v in common: result %d has %v after %v", common, i, r.Score, found[i-1].Score)
			}
			name := r.Document.Filename + strconv.Itoa(r.Passage.Ordinal)
			if common == 0 {
				want[name] = r.Score
			}
			if w := want[name]; math.Abs(r.Score-w) > 1e-3 || *r.Similarity != r.Score {
				t.Errorf("%v in common: %s has the cosine %v, the score %v and the similarity %v; want the score %v "+
					"twice, as without", common, name, *r.Cosine, r.Score, *r.Similarity, w)
			}
		}
	}
}

func TestAnEmbedderIsMeasuredOnce(t *testing.T) {
	queries, passages := search.SimilarityPairs()
	e := &bent{}
	sh := openBent(t, e)
	query := corpus.Query{Text: "slates", Mode: corpus.ModeSemantic, MinScore: 0.7}
	texts := func(want int) {
		t.Helper()
		if got := int(e.texts.Load()); got != want {
			t.Errorf("%d texts embedded, want %d", got, want)
		}
	}
	sh.search(t, query)
	texts(1) // nothing is found that has a score
	values, err := new(bent).EmbedQuery(t.Context(), "slates")
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.DB.Vectors(e.Model()).Upsert(t.Context(), []corpus.Vector{{
		PassageID: "p", DocumentID: "d", Namespace: chat.DefaultNamespace, User: chat.LocalUser, Values: values,
	}}); err != nil {
		t.Fatal(err)
	}
	e.most.Store(7)
	sh.search(t, query)
	texts(2 + 6)
	e.most.Store(0)
	sh.search(t, query)
	texts(3 + len(passages) + len(queries))
	sh.search(t, query)
	texts(4 + len(passages) + len(queries))
}
