package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

//go:embed list_documents.md
var listDocumentsDoc string

// listDocumentsSchema counts pages from 1; 200 pages are 10,000 documents.
var listDocumentsSchema = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"filters": ` + filtersSchema + `,
		"page": {"type": "integer", "minimum": 1, "maximum": 200, "default": 1}
	}
}`

// libraryWords are those with which answers say what is in the library.
const libraryWords = "library collection hold contain have include available upload"

// listDocumentsInput are the arguments of list_documents. A page has listPage documents.
type listDocumentsInput struct {
	Filters map[string]any `json:"filters"`
	Page    int            `json:"page"`
}

// listDocuments is the tool that lists the library. It shows no passages, so an answer from it needs no footnotes. The
// store pages by cursor, so page n is reached by reading those before it, 200 pages of 50 at most. It is cached by the
// library's version, so a list is never older than the last change. A page beyond the last is refused with how many
// there are.
func listDocuments() (*Tool, error) {
	return definition[listDocumentsInput]{
		name: "list_documents", action: chat.ActionExploring, capability: chat.CapabilityList, retrieval: true,
		cached: true, withoutPassages: true,
		doc: listDocumentsDoc, schema: listDocumentsSchema,
		label:      chat.Label{Doing: "Listing documents", Done: "Listed documents", Noun: "listing"},
		vocabulary: func(listDocumentsInput) string { return libraryWords },
		describe: func(_ *Context, in listDocumentsInput) string {
			if len(in.Filters) == 0 {
				return "Listing the documents"
			}
			return "Listing the documents with " + describeFilters(in.Filters)
		},
		run: func(ctx context.Context, d *Context, in listDocumentsInput) (Result, error) {
			f, why, err := d.readFilter(ctx, in.Filters)
			if err != nil {
				return Result{}, err
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			var docs []corpus.Document
			for page := 1; page <= in.Page; page++ {
				var err error
				if docs, f.Cursor, err = d.Library.List(ctx, d.Scope, f); err != nil {
					return Result{}, fmt.Errorf("list documents: %w", err)
				}
				if f.Cursor == "" && page < in.Page {
					return refusedResult("There are %s only: ask for one of them.", english.Count(page, "page"))
				}
			}
			more := f.Cursor != ""
			notes, err := d.noteUnknownProperties(ctx, f, docs)
			if err != nil {
				return Result{}, err
			}
			summary := fmt.Sprintf("page %d", in.Page)
			if more {
				summary += ", there are more"
			}
			return Result{
				Message: "Listed " + english.Count(len(docs), "document"), Summary: summary,
				Output: func(Numberer) (any, chat.StepResult) {
					result := chat.StepResult{
						Query: filtersAsked(in.Filters), Found: len(docs), Hits: documentHits(docs), Notes: notes,
					}
					if len(docs) == 0 {
						result.Facts = []chat.Fact{{Name: "page", Value: strconv.Itoa(in.Page)}}
					}
					return map[string]any{
						"documents": listedDocuments(docs), "page": in.Page, "more": more, "notes": notes,
					}, result
				},
				SourceChanges: SourceChanges{Documents: docs},
			}, nil
		},
	}.buildTool()
}
