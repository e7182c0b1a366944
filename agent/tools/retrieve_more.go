package tools

import (
	"context"
	_ "embed"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

//go:embed retrieve_more.md
var retrieveMoreDoc string

// retrieveMoreSchema lets the query out: then the latest one of the run counts.
const retrieveMoreSchema = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"query": {"type": "string", "maxLength": 1000,
			"description": "The search to go on with; the last one if left out"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of further results"}
	}
}`

// retrieveMore is the tool that goes on with a search: it returns what this run was not shown yet, of the first 50
// hits. The same call again returns the next ones, so it is neither cached nor counted as repeated. It searches again
// with the same words and leaves out what was shown, so it needs no place kept anywhere and works after a restart.
//
// 50 is the most that one search gives; whoever needs more has to ask in other words, and is told so by a note.
func retrieveMore() (*Tool, error) {
	return definition[retrieveInput]{
		name: "retrieve_more", action: chat.ActionSearching, capability: chat.CapabilitySearch, resumable: true,
		modelView: viewOf[FoundPassages],
		retrieval: true, continues: true, maxTopK: 50,
		doc: retrieveMoreDoc, schema: retrieveMoreSchema,
		label: chat.Label{
			Doing: "Searching on for", Done: "Searched on for", Noun: "search", Argument: "query",
			Form: chat.LabelQuote,
		},
		describe: func(d *Context, in retrieveInput) string {
			return "Searching on for: " + text.Shorten(d.Sources.QueryOrLatest(in.Query), 120)
		},
		run: func(ctx context.Context, d *Context, in retrieveInput) (Result, error) {
			query := d.Sources.QueryOrLatest(in.Query)
			if query == "" {
				return refusedResult("Nothing was searched yet: use retrieve first, or give a query.")
			}
			found, err := d.searchInReach(ctx, corpus.Query{Text: query, Limit: 50})
			if err != nil {
				return Result{}, err
			}
			var further []corpus.Result
			// What was shown is known by the passages' ids, whichever tool showed them.
			for _, hit := range found.Results {
				if len(further) < in.TopK && !d.Sources.Contains(hit.Passage.ID) {
					further = append(further, hit)
				}
			}
			if len(further) < in.TopK {
				found.Notes = append(
					slices.Clip(found.Notes),
					"There are no further passages for this query. Other words may find more.",
				)
			}
			found.Results = further
			return passagesFound(query, found), nil
		},
	}.buildTool()
}
