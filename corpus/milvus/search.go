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
	// mostHits is the most that Milvus gives. ef is how many candidates HNSW keeps: at least as many as hits are
	// wanted.
	searchAhead = 16  // hits asked for beyond the last one, so that equals there are chosen by id
	leastEffort = 128 // HNSW's ef
	mostHits    = 16384
)

// SearchVectors finds passages by meaning; see corpus.Vectors. It sees what this process wrote, and what others wrote a
// moment later. More hits are asked for than wanted, because Milvus orders equal ones as it likes. Rounding and sorting
// are done here.
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

// toSearch returns the collection for a query, nil if there is nothing to find. A query of another dimension than the
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

// compareHits orders by cosine, best first, ties by passage id. What differs less than six digits can tell is a tie:
// equal vectors come with slightly different cosines from different segments.
func compareHits(a, b corpus.Hit) int {
	return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.PassageID, b.PassageID))
}

// hitsOf reads what a search found. Of each cosine the server tells six digits.
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
