package corpus

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/corpus/search"
)

const (
	measuredAtOnce = 6 // passages of one request, so that a slow embedder gets on
	queriesAtOnce  = 4
)

// similarities measures what the cosines of the embedder mean, once: the same embedder has the same scale in every
// process. What was embedded before an attempt failed, or ran out of time, is there for the next one. The queries and
// passages are those of search.SimilarityPairs.
type similarities struct {
	turn              chan struct{} // full while somebody measures; what is below is theirs
	queries, passages []string
	asked, found      [][]float32
	scale             search.Scale
	measured          bool
}

// EmbedNow is e.Embed for somebody who waits: before other passages, where the embedder tells the two apart.
func EmbedNow(ctx context.Context, e Embedder, passages []string) ([][]float32, error) {
	if now, ok := e.(interface {
		EmbedNow(ctx context.Context, passages []string) ([][]float32, error)
	}); ok {
		return now.EmbedNow(ctx, passages)
	}
	return e.Embed(ctx, passages)
}

// newSimilarities has measured no embedder yet. turn lets one measurement run at a time.
func newSimilarities() *similarities {
	s := &similarities{turn: make(chan struct{}, 1)}
	s.queries, s.passages = search.SimilarityPairs()
	s.asked = make([][]float32, len(s.queries))
	return s
}

// scaleOf returns the scale of the embedder, the fixed one with an error if it can't be measured. Whoever comes second
// waits for the first.
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
		vectors, err := EmbedNow(ctx, e, batch) // it may be for a run that passages wait for
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

// Scale returns what the cosines of the library's embedder mean. It is measured once, which takes a second or so.
func (l *Library) Scale(ctx context.Context) (search.Scale, error) {
	return l.similar.scaleOf(ctx, l.cfg.Embedder)
}

// measureScale finds out what cosines mean, once in a search. One for which that takes too long goes by the cosines.
func (se *activeSearch) measureScale(ctx context.Context) {
	se.measure.Do(func() {
		var err error
		if se.scale, err = se.library.similar.scaleOf(ctx, se.library.cfg.Embedder); err != nil {
			se.library.cfg.Log.WarnContext(ctx, "the embedding model's scores are not measured yet", "error", err)
		}
	})
}

// addSimilarities says of every result with a cosine what that means.
func (se *activeSearch) addSimilarities(found *Results) {
	for i := range found.Results {
		if c := found.Results[i].Cosine; c != nil {
			similarity := se.scale.Similarity(*c)
			found.Results[i].Similarity = &similarity
		}
	}
}
