package agent

import (
	"context"
	_ "embed"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/text"
)

//go:embed retrieve.md
var retrieveDoc string

const retrieveSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The search query"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "Number of results to return"}
	}
}`

type retrieveInput struct {
	Query string `json:"query"`
	TopK  int    `json:"top_k"`
}

func retrieve() (*tool, error) {
	return toolKind[retrieveInput]{
		name: "retrieve", action: chat.ActionSearching, retrieval: true, cached: true, topK: 50,
		doc: retrieveDoc, schema: retrieveSchema,
		doing: func(_ *desk, in retrieveInput) string { return searchingFor(in.Query) },
		do: func(ctx context.Context, d *desk, in retrieveInput) (result, error) {
			found, err := d.search(ctx, corpus.Query{Text: in.Query, Limit: in.TopK})
			if err != nil {
				return result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.build()
}

func searchingFor(query string) string { return "Searching for: " + text.Shorten(query, 120) }
