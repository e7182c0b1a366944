package tools

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/corpus"
)

// searchInReach searches the documents in reach, with reranking if the request has it on. All searches of the
// library by query use it, except rerank_documents, so that a question limited to some documents stays limited to
// them.
func (d *Context) searchInReach(ctx context.Context, q corpus.Query) (corpus.Results, error) {
	q.Documents, q.Rerank = d.DocumentIDs, d.Rerank
	found, err := d.Library.Search(ctx, d.Scope, q)
	if err != nil {
		return corpus.Results{}, fmt.Errorf("search: %w", err)
	}
	return found, nil
}
