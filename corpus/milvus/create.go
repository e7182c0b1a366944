package milvus

import (
	"context"
	"fmt"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// createCollection makes the collection for vectors of a dimension, and its index.
func (s *Store) createCollection(ctx context.Context, dimension int) error {
	text := func(name string) *entity.Field {
		return entity.NewField().WithName(name).WithDataType(entity.FieldTypeVarChar).WithMaxLength(64)
	}
	name := s.nameFor(dimension)
	schema := entity.NewSchema().WithName(name).WithDescription("Footnote: passages by " + s.cfg.Model).
		WithField(text(fieldID).WithIsPrimaryKey(true)).WithField(text(fieldDocument)).WithField(text(fieldUser)).
		WithField(text(fieldNamespace).WithIsPartitionKey(true)).
		WithField(entity.NewField().WithName(fieldMeaning).WithDataType(entity.FieldTypeFloatVector).WithDim(
			int64(dimension),
		))
	graph, err := entity.NewIndexHNSW(entity.COSINE, graphEdges, graphBuild)
	if err != nil {
		return fmt.Errorf("describe the index: %w", err)
	}
	err = s.runCall(ctx, "make collection "+name, func(ctx context.Context, c client.Client) error {
		err := c.CreateCollection(
			ctx, schema, 1, client.WithPartitionNum(partitions), client.WithConsistencyLevel(entity.ClSession),
		)
		if err != nil && strings.Contains(err.Error(), "exist") {
			return nil // another replica was first
		}
		return err
	})
	if err != nil {
		return err
	}
	s.cfg.Log.InfoContext(ctx, "made a Milvus collection", "collection", name, "model", s.cfg.Model)
	return s.runCall(ctx, "index "+fieldMeaning+" of collection "+name,
		func(ctx context.Context, c client.Client) error {
			return c.CreateIndex(ctx, name, fieldMeaning, graph, true)
		})
}
