package agent

import (
	"context"
	_ "embed"
	"fmt"

	"footnote/chat"
	"footnote/english"
)

//go:embed metadata_search.md
var metadataSearchDoc string

const metadataSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["filters"],
	"properties": {"filters": ` + filtersSchema + `}
}`

type metadataSearchInput struct {
	Filters map[string]any `json:"filters"`
}

func metadataSearch() (*tool, error) {
	return toolKind[metadataSearchInput]{
		name: "metadata_search", action: chat.ActionSearching, retrieval: true, cached: true, bare: true,
		doc: metadataSearchDoc, schema: metadataSearchSchema,
		doing: func(_ *desk, in metadataSearchInput) string {
			if len(in.Filters) == 0 {
				return "Looking for documents"
			}
			return "Looking for documents with " + describe(in.Filters)
		},
		do: func(ctx context.Context, d *desk, in metadataSearchInput) (result, error) {
			f, why := filterOf(d, in.Filters)
			if why != "" {
				return refuse("%s", why)
			}
			f, err := d.named(ctx, f)
			if err != nil {
				return result{}, err
			}
			f.Limit = 50
			docs, next, err := d.library.List(ctx, d.scope, f)
			if err != nil {
				return result{}, fmt.Errorf("list documents: %w", err)
			}
			notes, err := d.unknown(ctx, f, docs)
			if err != nil {
				return result{}, err
			}
			if next != "" {
				notes = append(notes, "These are the first 50; there are more.")
			}
			return result{
				message: "Found " + english.Count(len(docs), "document"), summary: describe(in.Filters),
				output: func(numberer) any {
					return map[string]any{"documents": list(docs), "total_found": len(docs), "notes": notes}
				},
				effect: func(d *desk) {
					d.sources.AddDocuments(docs...)
					if len(in.Filters) > 0 {
						d.sources.NoteEmptySearch(describe(in.Filters), len(docs))
					}
				},
			}, nil
		},
	}.build()
}
