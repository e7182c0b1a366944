package corpus

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/corpus/search"
)

const (
	measuredAtOnce = 6 // batch size, so that a slow embedder makes progress
	queriesAtOnce  = 4
)

// similarities calibrates the embedder's cosines once: the same embedder has the same scale in every process. If an
// attempt fails or times out, the next one continues with the vectors so far. Queries and passages are
// search.SimilarityPairs.
type similarities struct {
	turn              chan struct{} // semaphore that guards the fields below
	queries, passages []string
	asked, found      [][]float32
	scale             search.Scale
	measured          bool
}

// EmbedNow is e.Embed with priority over other passages, if the embedder supports that.
func EmbedNow(ctx context.Context, e Embedder, passages []string) ([][]float32, error) {
	if now, ok := e.(interface {
		EmbedNow(ctx context.Context, passages []string) ([][]float32, error)
	}); ok {
		return now.EmbedNow(ctx, passages)
	}
	return e.Embed(ctx, passages)
}

// newSimilarities returns a similarities without measurements. turn is a semaphore of one.
func newSimilarities() *similarities {
	s := &similarities{turn: make(chan struct{}, 1)}
	s.queries, s.passages = search.SimilarityPairs()
	s.asked = make([][]float32, len(s.queries))
	return s
}

// scaleOf returns the scale of the embedder, or the zero Scale with an error if it can't be measured. Concurrent
// callers wait for the first.
func (s *similarities) scaleOf(ctx context.Context, e Embedder) (search.Scale, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return search.Scale{}, context.Cause(ctx)
	}
	defer func() { <-s.turn }()
	if s.measured {
		return s.scale, nil
	}
	for len(s.found) < len(s.passages) {
		batch := s.passages[len(s.found):min(len(s.passages), len(s.found)+measuredAtOnce)]
		vectors, err := EmbedNow(ctx, e, batch) // a run may wait for it
		if err == nil && len(vectors) != len(batch) {
			err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(batch))
		}
		if err != nil {
			return search.Scale{}, fmt.Errorf("embed passages to compare: %w", err)
		}
		s.found = append(s.found, vectors...)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(queriesAtOnce)
	for i, query := range s.queries {
		if s.asked[i] == nil {
			g.Go(func() (err error) {
				s.asked[i], err = e.EmbedQuery(ctx, query)
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return search.Scale{}, fmt.Errorf("embed queries to compare: %w", err)
	}
	s.scale, s.measured = search.MeasureScale(s.asked, s.found), true
	s.asked, s.found = nil, nil
	return s.scale, nil
}

// Scale returns the calibration of the embedder's cosines. It is measured once, which takes about a second.
func (l *Library) Scale(ctx context.Context) (search.Scale, error) {
	return l.similar.scaleOf(ctx, l.cfg.Embedder)
}

// measureScale measures the scale once per search. On failure or timeout the search uses the raw cosines.
func (se *activeSearch) measureScale(ctx context.Context) {
	se.measure.Do(func() {
		var err error
		if se.scale, err = se.library.similar.scaleOf(ctx, se.library.cfg.Embedder); err != nil {
			se.library.cfg.Log.WarnContext(ctx, "the embedding model is not calibrated yet", "error", err)
		}
	})
}

// addSimilarities sets the similarity of every result with a cosine.
func (se *activeSearch) addSimilarities(found *Results) {
	for i := range found.Results {
		if c := found.Results[i].Cosine; c != nil {
			similarity := se.scale.Similarity(*c)
			found.Results[i].Similarity = &similarity
		}
	}
}
