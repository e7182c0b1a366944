package agent

import (
	"context"
	"fmt"

	"footnote/corpus"
)

// search finds passages among the documents in reach, in the order that the request wants.
func (d *desk) search(ctx context.Context, q corpus.Query) (corpus.Results, error) {
	q.Documents, q.Rerank = d.only, d.rerank
	found, err := d.library.Search(ctx, d.scope, q)
	if err != nil {
		return corpus.Results{}, fmt.Errorf("search: %w", err)
	}
	return found, nil
}

// nearness is a result's cosine as tools give it, 0–1; nil where it is not known.
func nearness(hit corpus.Result) *float64 {
	if hit.Cosine == nil {
		return nil
	}
	near := min(1, max(0, *hit.Cosine))
	return &near
}
