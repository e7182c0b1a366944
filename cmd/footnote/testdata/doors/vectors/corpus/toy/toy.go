// Package toy keeps vectors as another store does, and says when it is asked.
package toy

import (
	"context"
	"log/slog"

	"footnote/chat"
	"footnote/corpus"
)

// Store is a store of vectors over another one.
type Store struct {
	corpus.Vectors
	Log *slog.Logger
}

// SearchVectors implements corpus.Vectors.
func (s Store) SearchVectors(
	ctx context.Context, in chat.Scope, query []float32, documents []string, k int,
) ([]corpus.Hit, error) {
	s.Log.InfoContext(ctx, "toy vectors are searched")
	return s.Vectors.SearchVectors(ctx, in, query, documents, k)
}

// Over makes the stores of all models.
func Over(models func(model string) corpus.Vectors, log *slog.Logger) func(model string) corpus.Vectors {
	return func(model string) corpus.Vectors { return Store{models(model), log} }
}
