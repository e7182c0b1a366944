package tools

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

//go:embed semantic_search.md
var semanticSearchDoc string

// semanticSearchSchema has a lowest score of 0.7 by default; byMeaning says how near the best came when
// that leaves nothing.
const semanticSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000,
			"description": "The search query to find relevant passages"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of results to return"},
		"min_score": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.7,
			"description": "Minimum similarity score, 0 to 1"}
	}
}`

// semanticSearchInput are the arguments of semantic_search; min_score is 0–1.
//
// 0.7 is the default that clients of this toolset know; what a score means depends on the embedding model.
type semanticSearchInput struct {
	Query    string  `json:"query"`
	TopK     int     `json:"top_k"`
	MinScore float64 `json:"min_score"`
}

// semanticSearch is the tool that searches by meaning alone. It stands in after hybrid_search and retrieve (preference
// 3).
func semanticSearch() (*Tool, error) {
	return definition[semanticSearchInput]{
		name: "semantic_search", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 3,
		resumable: true, modelView: viewOf[FoundPassages],
		retrieval: true, cached: true, maxTopK: 50,
		doc: semanticSearchDoc, schema: semanticSearchSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in semanticSearchInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in semanticSearchInput) (Result, error) {
			found, err := d.byMeaning(ctx, in.Query, in.TopK, in.MinScore)
			if err != nil {
				return Result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.buildTool()
}

// byMeaning searches by meaning, or by words when that does not answer. When a threshold leaves nothing, a note says
// how near the best passage came. An embedder that does not answer is replaced by words, with a note; the result is
// marked partial, so it is not cached.
//
// The best score is cut to three digits and never rounded up: a search with the number in the note has to find that
// passage.
func (d *Context) byMeaning(ctx context.Context, query string, limit int, least float64) (corpus.Results, error) {
	found, err := d.searchInReach(ctx, corpus.Query{
		Text: query, Limit: limit, Mode: corpus.ModeSemantic, MinScore: least,
	})
	if err != nil && ctx.Err() == nil && chat.CodeOf(err) == chat.CodeUnavailable {
		return d.byWords(ctx, query, limit)
	}
	if err != nil || len(found.Results) > 0 || least == 0 {
		return found, err
	}
	best, err := d.searchInReach(ctx, corpus.Query{Text: query, Limit: 1, Mode: corpus.ModeSemantic})
	if err != nil {
		return found, err
	}
	if len(best.Results) > 0 {
		found.Notes = append(append([]string{}, found.Notes...),
			fmt.Sprintf(
				"No passage reaches a score of %.3g; the best has %.3g. Search with a lower one to see it.", least,
				math.Floor(best.Results[0].Score*1000)/1000,
			))
	}
	return found, nil
}

// byWords stands in for a search by meaning that does not answer.
func (d *Context) byWords(ctx context.Context, query string, limit int) (corpus.Results, error) {
	found, err := d.searchInReach(ctx, corpus.Query{Text: query, Limit: limit, Mode: corpus.ModeLexical})
	found.Partial = true
	found.Notes = append(
		slices.Clip(found.Notes),
		"Semantic search did not answer: these passages are found by words, and no minimum score was applied.",
	)
	return found, err
}
