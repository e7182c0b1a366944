package tools

import (
	"context"
	_ "embed"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

//go:embed hybrid_search.md
var hybridSearchDoc string

// hybridSearchSchema is that of the other searches for passages: a query and how many are wanted, 5 by default.
const hybridSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000,
			"description": "What to search for: keywords or a short question"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of results to return"}
	}
}`

// hybridSearch is the tool that searches by words and meaning at once and returns passages; without an embedder by
// words alone. The results of both searches are fused in corpus/search. Of the tools that search it stands in first for
// others (preference 1).
func hybridSearch() (*Tool, error) {
	return definition[retrieveInput]{
		name: "hybrid_search", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 1,
		resumable: true, modelView: viewOf[FoundPassages],
		retrieval: true, cached: true, maxTopK: 50,
		doc: hybridSearchDoc, schema: hybridSearchSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in retrieveInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in retrieveInput) (Result, error) {
			found, err := d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: in.TopK, Mode: corpus.ModeHybrid})
			if err != nil {
				return Result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.buildTool()
}
