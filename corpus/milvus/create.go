package milvus

import (
	"context"
	"fmt"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// createCollection makes the collection for vectors of a dimension, and its indexes. All strings have at most 64 bytes,
// which storedKey and plainLike see to. The vectors' index is HNSW with cosines.
func (s *Store) createCollection(ctx context.Context, dimension int) error {
	text := func(name string) *entity.Field {
		return entity.NewField().WithName(name).WithDataType(entity.FieldTypeVarChar).WithMaxLength(64)
	}
	name := s.nameFor(dimension)
	schema := entity.NewSchema().WithName(name).WithDescription("Footnote: passages by " + s.cfg.Model).
		WithField(text(fieldID).WithIsPrimaryKey(true)).WithField(text(fieldDocument)).WithField(text(fieldUser)).
		WithField(text(fieldNamespace).WithIsPartitionKey(true)).WithField(text(fieldText)).
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
	if err := s.indexField(ctx, name, fieldMeaning, graph); err != nil {
		return err
	}
	// without it texts are looked up by reading all: some servers don't choose a kind of index by themselves
	if err := s.indexField(ctx, name, fieldText, entity.NewScalarIndex()); err != nil {
		s.cfg.Log.DebugContext(ctx, "texts of vectors are not indexed", "collection", name, "error", err)
	}
	return nil
}

// indexField asks for an index and doesn't wait until it is built: until then Milvus searches without it.
func (s *Store) indexField(ctx context.Context, collection, field string, kind entity.Index) error {
	return s.runCall(ctx, "index "+field+" of collection "+collection,
		func(ctx context.Context, c client.Client) error {
			return c.CreateIndex(ctx, collection, field, kind, true)
		})
}
