package corpus

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"footnote/chat"
)

// hybrid is what Vectors have that can rank by words and by meaning in one search. They are given the words with the vectors, so they know those
// of documents that have their vectors, and of no others.
type hybrid interface {
	// RanksWords reports whether SearchHybrid can be used now. It asks nobody.
	RanksWords() bool
	// SearchHybrid returns the k best by words, of which it is given the rarities, and the k best by cosine, ranked by Hit.Fused, ties by
	// passage id.
	SearchHybrid(ctx context.Context, s chat.Scope, query []float32, words []TermWeight, documents []string, k int) ([]Hit, error)
	// Kept returns the vectors of passages as far as they are there, in whatever collection of the present embedding model.
	Kept(ctx context.Context, passages []string) (map[string][]float32, error)
}

// RankedApart reports whether a hybrid search is ranked by the server of the vectors now: it is asked for, that server can do it, and it has the
// words and vectors of every document. While documents are being worked on they are found by their words in the database only.
func (l *Library) RankedApart(ctx context.Context) bool {
	h, ok := l.cfg.Vectors.(hybrid)
	if !ok || !l.cfg.HybridApart || !l.Semantic() || !l.whole.Load() || !h.RanksWords() {
		return false
	}
	waiting, err := l.cfg.Queue.Waiting(ctx)
	return err == nil && waiting == 0
}

// apart reports whether the vectors' server is to rank this search. Phrases need the places of words, and a least score needs cosines: neither
// comes with its hits.
func (se *search) apart(ctx context.Context) bool {
	return se.query.Mode == ModeHybrid && len(se.phrases) == 0 && se.query.MinScore == 0 && se.library.RankedApart(ctx)
}

// runApart is run with the ranking left to the vectors' server. ok is false when that can't be had: then the library ranks.
func (se *search) runApart(ctx context.Context, depth int) (out Results, ok bool, err error) {
	ranked, ok, err := se.rankApart(ctx, depth)
	if err != nil || !ok {
		return Results{}, false, err
	}
	if out.Results, err = se.results(ctx, ranked); err != nil {
		return Results{}, false, err
	}
	if out.Corrected, err = se.correct(ctx); err != nil {
		return Results{}, false, err
	}
	if len(out.Corrected) > 0 {
		if ranked, ok, err = se.rankApart(ctx, depth); err != nil || !ok {
			return Results{}, false, err
		}
		if out.Results, err = se.results(ctx, ranked); err != nil {
			return Results{}, false, err
		}
	}
	out.Notes = se.notes
	return out, true, nil
}

// rankApart has the vectors' server rank once. It can't for a query without a word that an index knows.
func (se *search) rankApart(ctx context.Context, depth int) (ranked []fused, ok bool, err error) {
	var words []TermWeight
	var values []float32
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		words, err = se.library.cfg.Lexical.Rarities(both, se.terms())
		return err
	})
	g.Go(func() (err error) {
		values, err = se.embedded(both)
		return err
	})
	err = g.Wait()
	var hits []Hit
	if err == nil && len(words) > 0 {
		hits, err = se.library.cfg.Vectors.(hybrid).SearchHybrid(ctx, se.scope, values, words, se.query.Documents, depth)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err != nil:
		se.library.cfg.Log.WarnContext(ctx, "the server of the vectors did not rank by words and meaning", "error", err)
		return nil, false, nil
	case len(words) == 0:
		return nil, false, nil
	}
	const best = 2.0 / (FusionK + 1)
	for _, h := range hits {
		ranked = append(ranked, fused{Hit: h, score: h.Fused / best})
	}
	return ranked, true, nil
}

// vectorsOf returns the vectors of passages: those that the store has, and those that the embedder makes of the rest.
func (l *Library) vectorsOf(ctx context.Context, passages []Passage, texts []string) ([][]float32, error) {
	var kept map[string][]float32
	if h, ok := l.cfg.Vectors.(hybrid); ok {
		ids := make([]string, len(passages))
		for i, p := range passages {
			ids[i] = p.ID
		}
		var err error
		if kept, err = h.Kept(ctx, ids); err != nil {
			return nil, fmt.Errorf("look for vectors that are there: %w", err)
		}
	}
	values := make([][]float32, len(passages))
	var missing []int
	var ask []string
	for i, p := range passages {
		if values[i] = kept[p.ID]; values[i] == nil {
			missing, ask = append(missing, i), append(ask, texts[i])
		}
	}
	if len(ask) == 0 {
		return values, nil
	}
	made, err := l.cfg.Embedder.Embed(ctx, ask)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	if len(made) != len(ask) {
		return nil, fmt.Errorf("embed: %d vectors for %d texts", len(made), len(ask))
	}
	for i, at := range missing {
		values[at] = made[i]
	}
	return values, nil
}

// addWords gives vectors the words of their passages, as the index of words has them, if the store ranks by them. The average length is that of
// now: it changes little, since passages are cut to one size.
func (l *Library) addWords(ctx context.Context, d Document, passages []Passage, vs []Vector) error {
	if _, ok := l.cfg.Vectors.(hybrid); !ok {
		return nil
	}
	average, err := l.cfg.Lexical.AverageLength(ctx)
	if err != nil {
		return err
	}
	for i, terms := range AnalysePassages(d.Title, d.Language, passages) {
		vs[i].Words = terms.Weights(average)
	}
	return nil
}
