package milvus

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/milvus-io/milvus-sdk-go/v2/client"
	"github.com/milvus-io/milvus-sdk-go/v2/entity"
)

// VectorsOf returns vectors by text hash; see corpus.Vectors. Hashes are bytes and stored in hexadecimal.
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
	found, err := callServer(ctx, s, "read vectors", func(
		ctx context.Context, c client.Client,
	) (map[string][]float32, error) {
		rows, err := c.Query(ctx, ix.name, nil, oneOf(fieldText, keys), []string{fieldText, fieldMeaning},
			client.WithLimit(int64(sameTexts*len(keys))), client.WithSearchQueryConsistencyLevel(entity.ClSession))
		if err != nil {
			return nil, err
		}
		of, err := columnTexts(rows.GetColumn(fieldText))
		if err != nil || len(of) == 0 {
			return nil, err
		}
		vectors, ok := rows.GetColumn(fieldMeaning).(*entity.ColumnFloatVector)
		if !ok || vectors.Len() != len(of) {
			return nil, fmt.Errorf("%d vectors without their values", len(of))
		}
		kept := make(map[string][]float32, len(of))
		for i, key := range of {
			kept[key] = vectors.Data()[i]
		}
		return kept, nil
	})
	out := make(map[string][]float32, len(found))
	for _, hash := range hashes {
		if v, has := found[hex.EncodeToString([]byte(hash))]; has {
			out[hash] = v
		}
	}
	return out, err
}

// sameTexts is the maximum number of vectors read per text, so that a text with thousands of vectors is not read as
// often. Texts without a result are embedded again.
const sameTexts = 8
