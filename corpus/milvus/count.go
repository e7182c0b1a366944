package milvus

import (
	"context"
	"fmt"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// rowsPerCount is the maximum number of rows read at once for counting by document.
const rowsPerCount = 10000

// CountVectors returns the number of vectors of each document; documents without vectors are left out. Milvus has
// no grouping, so rows are read and counted here; documents with too many rows are split into halves. Reads are
// strongly consistent.
func (s *Store) CountVectors(ctx context.Context, documents []string) (map[string]int, error) {
	documents = onlyPlain(documents)
	ix, err := s.findCollection(ctx)
	if err != nil || ix == nil || len(documents) == 0 {
		return nil, err
	}
	expression := oneOf(fieldDocument, documents)
	all, err := s.countVectors(ctx, ix, expression)
	if err != nil || all == 0 {
		return nil, err
	}
	if all > rowsPerCount {
		// A single document needs no rows: its count is the total.
		if len(documents) == 1 {
			return map[string]int{documents[0]: all}, nil
		}
		counts, err := s.CountVectors(ctx, documents[:len(documents)/2])
		if err != nil {
			return nil, err
		}
		rest, err := s.CountVectors(ctx, documents[len(documents)/2:])
		if err != nil {
			return nil, err
		}
		if counts == nil {
			return rest, nil
		}
		for id, n := range rest {
			counts[id] = n
		}
		return counts, nil
	}
	return callServer(ctx, s, "count vectors by document", func(
		ctx context.Context, c client.Client,
	) (map[string]int, error) {
		rows, err := c.Query(ctx, ix.name, nil, expression, []string{fieldDocument}, client.WithLimit(rowsPerCount),
			// Strong consistency: a count that misses recent writes would cause them to be repeated.
			client.WithSearchQueryConsistencyLevel(entity.ClStrong))
		if err != nil {
			return nil, err
		}
		ids, err := columnTexts(rows.GetColumn(fieldDocument))
		if err != nil {
			return nil, err
		}
		counts := make(map[string]int, len(documents))
		for _, id := range ids {
			counts[id]++
		}
		return counts, nil
	})
}

// countVectors returns the number of vectors selected by an expression.
func (s *Store) countVectors(ctx context.Context, ix *index, expression string) (int, error) {
	return callServer(ctx, s, "count vectors", func(ctx context.Context, c client.Client) (int, error) {
		rows, err := c.Query(
			ctx, ix.name, nil, expression, []string{"count(*)"},
			client.WithSearchQueryConsistencyLevel(entity.ClStrong),
		)
		if err != nil {
			return 0, err
		}
		column := rows.GetColumn("count(*)")
		if column == nil || column.Len() != 1 {
			return 0, fmt.Errorf("no count in the answer")
		}
		n, err := column.GetAsInt64(0)
		return int(n), err
	})
}
