package agent

import (
	"context"
	_ "embed"

	"footnote/chat"
	"footnote/corpus"
)

//go:embed hybrid_search.md
var hybridSearchDoc string

const hybridSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What to search for: keywords or a short question"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "Number of results to return"}
	}
}`

func hybridSearch() (*tool, error) {
	return toolKind[retrieveInput]{
		name: "hybrid_search", action: chat.ActionSearching, retrieval: true, cached: true, topK: 50,
		doc: hybridSearchDoc, schema: hybridSearchSchema,
		doing: func(_ *desk, in retrieveInput) string { return searchingFor(in.Query) },
		do: func(ctx context.Context, d *desk, in retrieveInput) (result, error) {
			found, err := d.search(ctx, corpus.Query{Text: in.Query, Limit: in.TopK, Mode: corpus.ModeHybrid})
			if err != nil {
				return result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.build()
}
