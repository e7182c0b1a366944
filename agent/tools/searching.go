package tools

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/corpus"
)

// searchInReach finds passages among the documents in reach, in the order that the request wants. All tools that search
// go through it, so that none can leave the documents that a question was narrowed to.
func (d *Context) searchInReach(ctx context.Context, q corpus.Query) (corpus.Results, error) {
	q.Documents, q.Rerank = d.DocumentIDs, d.Rerank
	found, err := d.Library.Search(ctx, d.Scope, q)
	if err != nil {
		return corpus.Results{}, fmt.Errorf("search: %w", err)
	}
	return found, nil
}
