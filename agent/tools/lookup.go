package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

//go:embed lookup.md
var lookupDoc string

// lookupSchema makes the query optional: without it a model gets the document's beginning.
const lookupSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_id"],
	"properties": {
		"doc_id": {"type": "string", "minLength": 1, "maxLength": 500,
			"description": "The document's id, title or file name"},
		"query": {"type": "string", "maxLength": 1000,
			"description": "What to look for in it; its beginning if left out"}
	}
}`

// lookupRunes is the maximum length of a lookup, in runes: some four passages. The value was not measured.
const lookupRunes = 6000

// lookupInput holds the arguments of lookup.
type lookupInput struct {
	DocID string `json:"doc_id"`
	Query string `json:"query"`
}

// lookup returns the tool that reads the parts of a document about a query, in fewer tokens than read_document. It
// is the fallback for read_document in a set without it (preference 2 after 1). The result has the shape of
// read_document's.
func lookup() (*Tool, error) {
	return definition[lookupInput]{
		name: "lookup", action: chat.ActionReading, capability: chat.CapabilityRead, preference: 2,
		modelView: viewOf[ReadDocumentOutput], retrieval: true, cached: true, doc: lookupDoc, schema: lookupSchema,
		aliases: map[string]string{
			"document_id": "doc_id", "document": "doc_id", "title": "doc_id", "focus_query": "query",
		},
		label: chat.Label{
			Doing: "Looking into", Done: "Looked into", Noun: "reading", Argument: "doc_id", Form: chat.LabelTitle,
		},
		describe: func(d *Context, in lookupInput) string {
			if in.Query != "" {
				return "Looking into " + d.displayName(in.DocID) + " for: " + text.Shorten(in.Query, 100)
			}
			return "Looking into " + d.displayName(in.DocID)
		},
		run: func(ctx context.Context, d *Context, in lookupInput) (Result, error) {
			doc, why, err := d.Resolve(ctx, in.DocID)
			if err != nil {
				return Result{}, fmt.Errorf("find document: %w", err)
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			r, err := d.Library.Read(ctx, d.ReadScope(), corpus.ReadRequest{
				Document: doc.ID, Focus: in.Query, MaxRunes: lookupRunes,
			})
			if err != nil {
				return explainUnread(doc, err)
			}
			return Result{
				Message: "Looked into " + doc.DisplayName(), Summary: english.Count(len(r.Passages), "passage"),
				Output: func(number Numberer) (any, chat.StepResult) {
					return readResult(number, r, cmp.Or(in.Query, in.DocID))
				},
				SourceChanges: SourceChanges{Documents: []corpus.Document{r.Document}},
			}, nil
		},
	}.buildTool()
}
