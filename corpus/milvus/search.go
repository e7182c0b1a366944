package milvus

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

const (
	// mostHits is Milvus' limit of hits. ef is the number of candidates that HNSW keeps: at least the number of
	// hits requested.
	searchAhead = 16  // extra hits requested, so that ties are broken by ID
	leastEffort = 128 // minimum of HNSW's ef
	mostHits    = 16384
)

// SearchVectors returns the nearest passages; see corpus.Vectors. It sees the writes of this process at once, and
// those of others a moment later. It requests more hits than k, because Milvus orders ties arbitrarily, then rounds
// and sorts.
func (s *Store) SearchVectors(
	ctx context.Context, scope chat.Scope, query []float32, documents []string, k int,
) ([]corpus.Hit, error) {
	expression, some := scopeFilter(scope, documents)
	if k <= 0 || !some || len(query) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, callTime, errSlow)
	defer cancel()
	ix, err := s.toSearch(ctx, len(query))
	if err != nil || ix == nil {
		return nil, err
	}
	limit := min(k+searchAhead, mostHits)
	effort, err := entity.NewIndexHNSWSearchParam(max(leastEffort, limit))
	if err != nil {
		return nil, fmt.Errorf("describe the search: %w", err)
	}
	hits, err := callServer(ctx, s, "search vectors", func(ctx context.Context, c client.Client) ([]corpus.Hit, error) {
		found, err := c.Search(ctx, ix.name, nil, expression, []string{fieldDocument}, []entity.Vector{
			entity.FloatVector(query),
		},
			fieldMeaning, entity.COSINE, limit, effort, client.WithSearchQueryConsistencyLevel(entity.ClSession))
		if err != nil || len(found) == 0 {
			return nil, err
		}
		return hitsOf(found[0])
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(k, len(hits))], nil
}

// toSearch returns the collection for a query, nil if it does not exist. A query of another dimension than the
// embedder's finds nothing in an empty index, and is an error otherwise.
func (s *Store) toSearch(ctx context.Context, dimension int) (*index, error) {
	s.mu.Lock()
	known := s.dimension
	s.mu.Unlock()
	if known == 0 || known == dimension {
		return s.forDimension(ctx, dimension)
	}
	ix, err := s.findCollection(ctx)
	if err != nil || ix == nil {
		return nil, err
	}
	n, err := s.countVectors(ctx, ix, everything)
	if err != nil || n == 0 {
		return nil, err
	}
	return nil, errDimension
}

// compareHits orders by cosine, best first, ties by passage ID. Cosines are rounded to six digits: equal vectors
// have slightly different cosines in different segments.
func compareHits(a, b corpus.Hit) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.PassageID, b.PassageID))
}

// hitsOf converts the result of a search. It rounds cosines to six digits.
func hitsOf(found client.SearchResult) ([]corpus.Hit, error) {
	if found.ResultCount == 0 { // then the client says too that fields are missing
		return nil, nil
	}
	if found.Err != nil {
		return nil, found.Err
	}
	documents := found.Fields.GetColumn(fieldDocument)
	if documents == nil || documents.Len() < found.ResultCount || len(found.Scores) < found.ResultCount {
		return nil, fmt.Errorf("%d hits without their documents", found.ResultCount)
	}
	hits := make([]corpus.Hit, found.ResultCount)
	for i := range hits {
		passage, err := found.IDs.GetAsString(i)
		if err != nil {
			return nil, fmt.Errorf("read the id of a hit: %w", err)
		}
		document, err := documents.GetAsString(i)
		if err != nil {
			return nil, fmt.Errorf("read the document of a hit: %w", err)
		}
		cosine := math.Round(float64(found.Scores[i])*1e6) / 1e6
		hits[i] = corpus.Hit{PassageID: passage, DocumentID: document, Cosine: min(max(cosine, -1), 1)}
	}
	return hits, nil
}
