package corpus

import (
	"context"
	"fmt"
)

// likened is the number of vectors that sameModel needs: one similar vector is enough.
const likened = 8

// sameEnough is the minimum cosine of a stored vector and a new one of the same model and text. Titles may have
// changed since.
const sameEnough = 0.9

// sameModel reports whether an embedder has created at least one of the vectors, by embedding their texts again.
// Two models embed a text as dissimilar vectors, even with the same dimension.
func sameModel(ctx context.Context, e Embedder, some []Embedded) (bool, error) {
	texts := make([]string, len(some))
	for i, s := range some {
		texts[i] = EmbeddedText(s.Title, s.Passage)
	}
	now, err := e.Embed(ctx, texts)
	if err != nil {
		return false, fmt.Errorf("embed texts again: %w", err)
	}
	for i, s := range some {
		if len(now[i]) != len(s.Values) {
			continue
		}
		var cosine float64
		for k, value := range s.Values {
			cosine += float64(value) * float64(now[i][k])
		}
		if cosine >= sameEnough {
			return true, nil
		}
	}
	return false, nil
}

// nameVectors checks whether vectors of an earlier version, which have no model name, are of the current model.
// Those of another model stay until all documents have new ones.
func (l *Library) nameVectors(ctx context.Context) error {
	vectors, ok := l.cfg.Vectors.(modelless)
	if !ok {
		return nil
	}
	some, err := vectors.Unnamed(ctx, likened)
	if err != nil || len(some) == 0 {
		return err
	}
	same, err := sameModel(ctx, l.cfg.Embedder, some)
	if err != nil {
		return err
	}
	if !same {
		l.cfg.Log.InfoContext(ctx, "vectors of another embedding model are being rebuilt",
			"model", l.cfg.Embedder.Model())
		return nil
	}
	return vectors.Name(ctx)
}
