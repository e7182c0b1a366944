package milvus

import (
	"context"
	"fmt"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// Stored returns the vectors of passages, as far as our collection has them: all that anybody wrote is seen.
func (s *Store) Stored(ctx context.Context, passages []string) (map[string][]float32, error) {
	ix, err := s.findCollection(ctx)
	if err != nil {
		return nil, err
	}
	passages = onlyPlain(passages)
	if ix == nil || len(passages) == 0 {
		return nil, nil
	}
	return callServer(ctx, s, "read vectors", func(ctx context.Context, c client.Client) (map[string][]float32, error) {
		rows, err := c.Query(ctx, ix.name, nil, oneOf(
			fieldID, passages,
		), []string{fieldID, fieldMeaning}, client.WithLimit(rowsPerCount),
			client.WithSearchQueryConsistencyLevel(entity.ClStrong))
		if err != nil {
			return nil, err
		}
		ids, err := columnTexts(rows.GetColumn(fieldID))
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
