package milvus

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"footnote/chat"
	"footnote/corpus"
)

// RanksWords reports whether SearchHybrid can be used now: the server has sparse vectors, our collection has them, and none without them takes
// part. It asks nobody.
func (s *Store) RanksWords() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index != nil && s.index.words && s.before == nil && !time.Now().Before(s.rest)
}

// SearchHybrid has Milvus rank by words and by meaning and fuse both, by reciprocal rank with the same constant as corpus: see there. words are
// the query's side of BM25. Up to k hits of each way take part. What this process wrote is seen, and what others wrote a moment later.
func (s *Store) SearchHybrid(ctx context.Context, scope chat.Scope, query []float32, words []corpus.TermWeight, documents []string, k int) ([]corpus.Hit, error) {
	expression, some := filter(scope, documents)
	if k <= 0 || !some || len(query) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTime, errSlow)
	defer cancel()
	ix, err := s.toSearch(ctx, len(query))
	if err != nil {
		return nil, err
	}
	if ix == nil || !ix.words {
		return nil, &chat.Error{Code: chat.CodeUnavailable, Message: "This Milvus keeps no words.", Err: errNoWords}
	}
	k = min(k, mostHits/2)
	effort, err := entity.NewIndexHNSWSearchParam(max(leastEffort, k))
	if err != nil {
		return nil, fmt.Errorf("describe the search: %w", err)
	}
	all, err := entity.NewIndexSparseInvertedSearchParam(0) // none of the weights is left out
	if err != nil {
		return nil, fmt.Errorf("describe the search by words: %w", err)
	}
	sparse, err := sparseOf(words)
	if err != nil {
		return nil, err
	}
	hits, err := call(ctx, s, "search by words and vectors", func(ctx context.Context, c client.Client) ([]corpus.Hit, error) {
		found, err := c.HybridSearch(ctx, ix.name, nil, 2*k, []string{fieldDocument}, client.NewRRFReranker().WithK(corpus.FusionK), []*client.ANNSearchRequest{
			client.NewANNSearchRequest(fieldWords, entity.IP, expression, []entity.Vector{sparse}, all, k),
			client.NewANNSearchRequest(fieldMeaning, entity.COSINE, expression, []entity.Vector{entity.FloatVector(query)}, effort, k),
		})
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return hitsOf(found[0], func(h *corpus.Hit, score float64) { h.Fused = score })
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(hits, func(a, b corpus.Hit) int {
		return cmp.Or(cmp.Compare(b.Fused, a.Fused), cmp.Compare(a.PassageID, b.PassageID))
	})
	return hits, nil
}

// Kept returns the vectors of passages, as far as the collection before ours has them: they need not be made again to be stored in ours.
func (s *Store) Kept(ctx context.Context, passages []string) (map[string][]float32, error) {
	if _, err := s.find(ctx); err != nil {
		return nil, err
	}
	return s.read(ctx, s.earlier(), passages, entity.ClSession)
}

// Stored returns the vectors of passages, as far as our collection has them: all that anybody wrote is seen.
func (s *Store) Stored(ctx context.Context, passages []string) (map[string][]float32, error) {
	ix, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	return s.read(ctx, ix, passages, entity.ClStrong)
}

// read returns vectors of a collection, nothing if there is none.
func (s *Store) read(ctx context.Context, ix *index, passages []string, level entity.ConsistencyLevel) (map[string][]float32, error) {
	passages = onlyPlain(passages)
	if ix == nil || len(passages) == 0 {
		return nil, nil
	}
	return call(ctx, s, "read vectors", func(ctx context.Context, c client.Client) (map[string][]float32, error) {
		rows, err := c.Query(ctx, ix.name, nil, oneOf(fieldID, passages), []string{fieldID, fieldMeaning}, client.WithLimit(rowsPerCount),
			client.WithSearchQueryConsistencyLevel(level))
		if err != nil {
			return nil, err
		}
		ids, err := texts(rows.GetColumn(fieldID))
		if err != nil || len(ids) == 0 {
			return nil, err
		}
		vectors, ok := rows.GetColumn(fieldMeaning).(*entity.ColumnFloatVector)
		if !ok || vectors.Len() != len(ids) {
			return nil, fmt.Errorf("%d vectors without their values", len(ids))
		}
		kept := make(map[string][]float32, len(ids))
		for i, id := range ids {
			kept[id] = vectors.Data()[i]
		}
		return kept, nil
	})
}
