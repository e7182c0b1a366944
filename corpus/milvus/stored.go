package milvus

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// Stored returns the vectors of passages, as far as our collection has them: all that anybody wrote is seen. The
// command that moves vectors to another store asks it what is there already.
func (s *Store) Stored(ctx context.Context, passages []string) (map[string][]float32, error) {
	ix, err := s.findCollection(ctx)
	if err != nil {
		return nil, err
	}
	passages = onlyPlain(passages)
	if ix == nil || len(passages) == 0 {
		return nil, nil
	}
	return s.readVectors(ctx, ix, fieldID, passages, rowsPerCount, entity.ClStrong)
}

// VectorsOf returns vectors that were made of texts with these hashes; see corpus.Vectors. Hashes are bytes, and are
// stored in hexadecimal.
func (s *Store) VectorsOf(ctx context.Context, hashes []string) (map[string][]float32, error) {
	ix, err := s.findCollection(ctx)
	if err != nil || ix == nil || !ix.texts {
		return nil, err
	}
	keys := make([]string, 0, len(hashes))
	for _, hash := range hashes {
		if hash != "" {
			keys = append(keys, hex.EncodeToString([]byte(hash)))
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := s.readVectors(ctx, ix, fieldText, keys, sameTexts*len(keys), entity.ClSession)
	out := make(map[string][]float32, len(found))
	for _, hash := range hashes {
		if v, has := found[hex.EncodeToString([]byte(hash))]; has {
			out[hash] = v
		}
	}
	return out, err
}

// sameTexts is how many vectors are read for each text, at most, so that one of which there are thousands is not read
// as often. Texts for which none is left are made again.
const sameTexts = 8

// readVectors returns a vector for each key that a field has, as far as the first rows have one.
func (s *Store) readVectors(
	ctx context.Context, ix *index, field string, keys []string, rows int, level entity.ConsistencyLevel,
) (map[string][]float32, error) {
	return callServer(ctx, s, "read vectors", func(ctx context.Context, c client.Client) (map[string][]float32, error) {
		found, err := c.Query(ctx, ix.name, nil, oneOf(field, keys), []string{field, fieldMeaning},
			client.WithLimit(int64(rows)), client.WithSearchQueryConsistencyLevel(level))
		if err != nil {
			return nil, err
		}
		of, err := columnTexts(found.GetColumn(field))
		if err != nil || len(of) == 0 {
			return nil, err
		}
		vectors, ok := found.GetColumn(fieldMeaning).(*entity.ColumnFloatVector)
		if !ok || vectors.Len() != len(of) {
			return nil, fmt.Errorf("%d vectors without their values", len(of))
		}
		kept := make(map[string][]float32, len(of))
		for i, key := range of {
			kept[key] = vectors.Data()[i]
		}
		return kept, nil
	})
}
