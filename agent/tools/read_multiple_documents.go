package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

//go:embed read_multiple_documents.md
var readMultipleDocumentsDoc string

// readMultipleDocumentsSchema takes ten documents at most, as more would leave each too little room.
const readMultipleDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_ids"],
	"properties": {
		"doc_ids": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"type": "string", "minLength": 1,
			"maxLength": 500}, "description": "Ids, titles or file names"},
		"focus_query": {"type": "string", "maxLength": 1000, "description": "Read the parts about this"}
	}
}`

// readTogether is how many runes several documents that are read at once share. Ten documents get 2,400 runes each.
// The figure is a choice.
const readTogether = 24_000

// readMultipleDocumentsInput are the arguments of read_multiple_documents: at most ten documents.
type readMultipleDocumentsInput struct {
	DocIDs     []string `json:"doc_ids"`
	FocusQuery string   `json:"focus_query"`
}

// ReadMultipleDocumentsOutput is what was read of each document, in the order asked for.
//
// Notes name the documents that were not found; those that were are read all the same.
type ReadMultipleDocumentsOutput struct {
	Documents []ReadDocumentOutput `json:"documents"`
	Notes     []string             `json:"notes,omitempty"`
}

// ForModel tells each text once.
func (o ReadMultipleDocumentsOutput) ForModel() any {
	docs := make([]any, len(o.Documents))
	for i, doc := range o.Documents {
		docs[i] = doc.ForModel()
	}
	return map[string]any{"documents": docs, "notes": o.Notes}
}

// readMultipleDocuments is the tool that reads the beginnings of several documents at once, or what bears on a
// question, for comparisons. They share readTogether runes; four are read at the same time. The first document that
// can't be read ends the call, unlike one that is not found, which becomes a note.
func readMultipleDocuments() (*Tool, error) {
	return definition[readMultipleDocumentsInput]{
		name: "read_multiple_documents", action: chat.ActionReading, capability: chat.CapabilityRead,
		modelView: viewOf[ReadMultipleDocumentsOutput], retrieval: true, cached: true,
		doc: readMultipleDocumentsDoc, schema: readMultipleDocumentsSchema,
		aliases: map[string]string{"document_ids": "doc_ids"},
		label:   chat.Label{Doing: "Reading", Done: "Read", Noun: "reading", Form: chat.LabelTitle},
		describe: func(_ *Context, in readMultipleDocumentsInput) string {
			return "Reading " + english.Count(len(in.DocIDs), "document")
		},
		run: func(ctx context.Context, d *Context, in readMultipleDocumentsInput) (Result, error) {
			docs, notes, err := d.resolveAll(ctx, in.DocIDs)
			if err != nil {
				return Result{}, fmt.Errorf("find documents: %w", err)
			}
			if len(docs) == 0 {
				return refusedResult("%s", strings.Join(notes, " "))
			}
			readings := make([]corpus.Reading, len(docs))
			g, ctx := errgroup.WithContext(ctx)
			// Four at a time is a choice, so that one call does not take every reader of the database.
			g.SetLimit(4)
			for i, doc := range docs {
				g.Go(func() (err error) {
					readings[i], err = d.Library.Read(ctx, d.ReadScope(), corpus.ReadRequest{
						Document: doc.ID, Focus: in.FocusQuery, MaxRunes: readTogether / len(docs),
					})
					return err
				})
			}
			if err := g.Wait(); err != nil {
				return Result{}, fmt.Errorf("read documents: %w", err)
			}
			passages := 0
			for _, r := range readings {
				passages += len(r.Passages)
			}
			return Result{
				Message: "Read " + english.Count(len(docs), "document"),
				Summary: english.Count(passages, "passage") + " in " + english.Count(len(docs), "document"),
				Output: func(number Numberer) (any, chat.StepResult) {
					out := ReadMultipleDocumentsOutput{
						Documents: make([]ReadDocumentOutput, len(readings)), Notes: notes,
					}
					result := chat.StepResult{
						Query: cmp.Or(in.FocusQuery, strings.Join(in.DocIDs, ", ")), Found: len(readings), Notes: notes,
					}
					for i, r := range readings {
						out.Documents[i] = readOutput(number, r)
						result.Hits = append(result.Hits, withPassages(
							documentHit(r.Document), r.Document, out.Documents[i].Passages,
						)...)
						result.Opened = append(result.Opened, readPartOf(r))
					}
					return out, result
				},
				SourceChanges: SourceChanges{Documents: docs},
			}, nil
		},
	}.buildTool()
}
