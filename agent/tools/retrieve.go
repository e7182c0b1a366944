package tools

import (
	"context"
	_ "embed"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

//go:embed retrieve.md
var retrieveDoc string

// retrieveSchema is a query and how many passages are wanted, 5 by default.
const retrieveSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The search query"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of results to return"}
	}
}`

// retrieveInput are the arguments of tools that take a query and how many passages are wanted.
//
// TopK is between 1 and the tool's own highest number; a request's top_k takes the place of the default.
type retrieveInput struct {
	Query string `json:"query"`
	TopK  int    `json:"top_k"`
}

// retrieve is the search tool of the toolset react: passages rather than documents. Resumable: retrieve_more goes on
// with its query.
func retrieve() (*Tool, error) {
	return definition[retrieveInput]{
		name: "retrieve", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 2,
		resumable: true, modelView: viewOf[FoundPassages],
		retrieval: true, cached: true, maxTopK: 50,
		doc: retrieveDoc, schema: retrieveSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in retrieveInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in retrieveInput) (Result, error) {
			found, err := d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: in.TopK})
			if err != nil {
				return Result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.buildTool()
}

// searchLabel is how pages name a search, so that all tools that search read alike.
func searchLabel() chat.Label {
	return chat.Label{
		Doing: "Searching for", Done: "Searched for", Noun: "search", Argument: "query", Form: chat.LabelQuote,
	}
}

// searchingFor is the message of a search under way.
func searchingFor(query string) string { return "Searching for: " + text.Shorten(query, 120) }
