package tools

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

//go:embed metadata_search.md
var metadataSearchDoc string

// metadataSearchSchema asks for filters, unlike list_documents: a search without any would be a list.
var metadataSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["filters"],
	"properties": {"filters": ` + filtersSchema + `}
}`

// metadataSearchInput are the arguments of metadata_search.
type metadataSearchInput struct {
	Filters map[string]any `json:"filters"`
}

// metadataSearch is the tool that finds documents by what is known about them: author, date, type, tags. It looks into
// no text. An empty result is noted as a search that found nothing, for the coverage of the answer. It shows listPage
// documents at most and says when there are more. It stands in for list_documents (preference 1).
func metadataSearch() (*Tool, error) {
	return definition[metadataSearchInput]{
		name: "metadata_search", action: chat.ActionSearching, capability: chat.CapabilityList, preference: 1,
		retrieval: true, cached: true, withoutPassages: true,
		doc: metadataSearchDoc, schema: metadataSearchSchema,
		label:      chat.Label{Doing: "Filtering documents", Done: "Filtered documents", Noun: "search"},
		vocabulary: func(metadataSearchInput) string { return libraryWords },
		describe: func(_ *Context, in metadataSearchInput) string {
			if len(in.Filters) == 0 {
				return "Looking for documents"
			}
			return "Looking for documents with " + describeFilters(in.Filters)
		},
		run: func(ctx context.Context, d *Context, in metadataSearchInput) (Result, error) {
			f, why, err := d.readFilter(ctx, in.Filters)
			if err != nil {
				return Result{}, err
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			docs, next, err := d.Library.List(ctx, d.Scope, f)
			if err != nil {
				return Result{}, fmt.Errorf("list documents: %w", err)
			}
			notes, err := d.noteUnknownProperties(ctx, f, docs)
			if err != nil {
				return Result{}, err
			}
			if next != "" {
				notes = append(notes, fmt.Sprintf("These are the first %d; there are more.", listPage))
			}
			var effects SourceChanges
			if effects.Documents = docs; len(docs) == 0 && len(in.Filters) > 0 {
				effects.EmptySearch = describeFilters(in.Filters)
			}
			return Result{
				Message: "Found " + english.Count(len(docs), "document"), Summary: describeFilters(in.Filters),
				Output: func(Numberer) (any, chat.StepResult) {
					result := chat.StepResult{
						Query: filtersAsked(in.Filters), Found: len(docs), Hits: documentHits(docs), Notes: notes,
					}
					return map[string]any{
						"documents": listedDocuments(docs), "total_found": len(docs), "notes": notes,
					}, result
				},
				SourceChanges: effects,
			}, nil
		},
	}.buildTool()
}
