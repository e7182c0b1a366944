package agent

import (
	"context"
	_ "embed"
	"fmt"

	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/text"
	"footnote/english"
)

//go:embed lookup.md
var lookupDoc string

const lookupSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_id"],
	"properties": {
		"doc_id": {"type": "string", "minLength": 1, "maxLength": 500, "description": "The document's id, title or file name"},
		"query": {"type": "string", "maxLength": 1000, "description": "What to look for in it; its beginning if left out"}
	}
}`

// lookupRunes is how much of a document is looked up: enough to answer a question, too little to fill a turn.
const lookupRunes = 6000

type lookupInput struct {
	DocID string `json:"doc_id"`
	Query string `json:"query"`
}

func lookup() (*tool, error) {
	return toolKind[lookupInput]{
		name: "lookup", action: chat.ActionReading, retrieval: true, cached: true, doc: lookupDoc, schema: lookupSchema,
		aliases: map[string]string{"document_id": "doc_id", "document": "doc_id", "title": "doc_id", "focus_query": "query"},
		doing: func(d *desk, in lookupInput) string {
			if in.Query != "" {
				return "Looking into " + d.name(in.DocID) + " for: " + text.Shorten(in.Query, 100)
			}
			return "Looking into " + d.name(in.DocID)
		},
		do: func(ctx context.Context, d *desk, in lookupInput) (result, error) {
			doc, why, err := d.find(ctx, in.DocID)
			if err != nil {
				return result{}, fmt.Errorf("find document: %w", err)
			}
			if why != "" {
				return refuse("%s", why)
			}
			r, err := d.library.Read(ctx, d.reads(), corpus.ReadRequest{Document: doc.ID, Focus: in.Query, MaxRunes: lookupRunes})
			if err != nil {
				return unread(doc, err)
			}
			return result{
				message: "Looked into " + doc.DisplayName(), summary: english.Count(len(r.Passages), "passage"),
				output: func(number numberer) any { return reading(number, r) },
				effect: func(d *desk) { d.sources.NoteReading(r.Document, readingPage(r)) },
			}, nil
		},
	}.build()
}
