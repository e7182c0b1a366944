package milvus

import (
	"context"
	"fmt"
	"strings"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// create makes a collection, with words if the server does it: a server that refuses those is asked once more without, and never again with.
func (s *Store) create(ctx context.Context, dimension int, words bool) (withThem bool, err error) {
	err = s.createAs(ctx, dimension, words)
	if err == nil || !words || ctx.Err() != nil || s.resting() {
		return words, err
	}
	s.cfg.Log.WarnContext(ctx, "this Milvus makes no collection with sparse vectors: words are ranked by the database", "error", err)
	if err := s.createAs(ctx, dimension, false); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = true
	return false, nil
}

func (s *Store) createAs(ctx context.Context, dimension int, words bool) error {
	text := func(name string) *entity.Field {
		return entity.NewField().WithName(name).WithDataType(entity.FieldTypeVarChar).WithMaxLength(64)
	}
	name := s.nameFor(dimension, words)
	schema := entity.NewSchema().WithName(name).WithDescription("Footnote: passages by " + s.cfg.Model).
		WithField(text(fieldID).WithIsPrimaryKey(true)).WithField(text(fieldDocument)).WithField(text(fieldUser)).
		WithField(text(fieldNamespace).WithIsPartitionKey(true)).
		WithField(entity.NewField().WithName(fieldMeaning).WithDataType(entity.FieldTypeFloatVector).WithDim(int64(dimension)))
	graph, err := entity.NewIndexHNSW(entity.COSINE, graphEdges, graphBuild)
	if err != nil {
		return fmt.Errorf("describe the index: %w", err)
	}
	indexes := map[string]entity.Index{fieldMeaning: graph}
	if words {
		schema = schema.WithField(entity.NewField().WithName(fieldWords).WithDataType(entity.FieldTypeSparseVector))
		lists, err := entity.NewIndexSparseInverted(entity.IP, 0) // none of the weights is left out
		if err != nil {
			return fmt.Errorf("describe the index of words: %w", err)
		}
		indexes[fieldWords] = lists
	}
	err = s.do(ctx, "make collection "+name, func(ctx context.Context, c client.Client) error {
		err := c.CreateCollection(ctx, schema, 1, client.WithPartitionNum(partitions), client.WithConsistencyLevel(entity.ClSession))
		if err != nil && strings.Contains(err.Error(), "exist") {
			return nil // another replica was first
		}
		return err
	})
	if err != nil {
		return err
	}
	s.cfg.Log.InfoContext(ctx, "made a Milvus collection", "collection", name, "model", s.cfg.Model, "words", words)
	for field, made := range indexes {
		err := s.do(ctx, "index "+field+" of collection "+name, func(ctx context.Context, c client.Client) error {
			return c.CreateIndex(ctx, name, field, made, true)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
