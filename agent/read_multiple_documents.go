package agent

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"footnote/chat"
	"footnote/corpus"
	"footnote/english"
)

//go:embed read_multiple_documents.md
var readMultipleDocumentsDoc string

const readMultipleDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_ids"],
	"properties": {
		"doc_ids": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"type": "string", "minLength": 1, "maxLength": 500}, "description": "Ids, titles or file names"},
		"focus_query": {"type": "string", "maxLength": 1000, "description": "Read the parts about this"}
	}
}`

// readTogether is how many runes several documents that are read at once share.
const readTogether = 24_000

type readMultipleDocumentsInput struct {
	DocIDs     []string `json:"doc_ids"`
	FocusQuery string   `json:"focus_query"`
}

type readMultipleDocumentsOutput struct {
	Documents []readDocumentOutput `json:"documents"`
	Notes     []string             `json:"notes,omitempty"`
}

func (o readMultipleDocumentsOutput) forModel() any {
	docs := make([]any, len(o.Documents))
	for i, doc := range o.Documents {
		docs[i] = doc.forModel()
	}
	return map[string]any{"documents": docs, "notes": o.Notes}
}

func readMultipleDocuments() (*tool, error) {
	return toolKind[readMultipleDocumentsInput]{
		name: "read_multiple_documents", action: chat.ActionReading, retrieval: true, cached: true,
		doc: readMultipleDocumentsDoc, schema: readMultipleDocumentsSchema, aliases: map[string]string{"document_ids": "doc_ids"},
		doing: func(_ *desk, in readMultipleDocumentsInput) string {
			return "Reading " + english.Count(len(in.DocIDs), "document")
		},
		do: func(ctx context.Context, d *desk, in readMultipleDocumentsInput) (result, error) {
			docs, notes, err := d.findAll(ctx, in.DocIDs)
			if err != nil {
				return result{}, fmt.Errorf("find documents: %w", err)
			}
			if len(docs) == 0 {
				return refuse("%s", strings.Join(notes, " "))
			}
			readings := make([]corpus.Reading, len(docs))
			g, ctx := errgroup.WithContext(ctx)
			g.SetLimit(4)
			for i, doc := range docs {
				g.Go(func() (err error) {
					readings[i], err = d.library.Read(ctx, d.reads(), corpus.ReadRequest{Document: doc.ID, Focus: in.FocusQuery, MaxRunes: readTogether / len(docs)})
					return err
				})
			}
			if err := g.Wait(); err != nil {
				return result{}, fmt.Errorf("read documents: %w", err)
			}
			passages := 0
			for _, r := range readings {
				passages += len(r.Passages)
			}
			return result{
				message: "Read " + english.Count(len(docs), "document"),
				summary: english.Count(passages, "passage") + " in " + english.Count(len(docs), "document"),
				output: func(number numberer) any {
					out := readMultipleDocumentsOutput{Documents: make([]readDocumentOutput, len(readings)), Notes: notes}
					for i, r := range readings {
						out.Documents[i] = reading(number, r)
					}
					return out
				},
				effect: func(d *desk) {
					for _, r := range readings {
						d.sources.NoteReading(r.Document, readingPage(r))
					}
				},
			}, nil
		},
	}.build()
}
