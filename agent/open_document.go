package agent

import (
	"context"
	_ "embed"
	"fmt"
	"net/url"

	"footnote/chat"
)

//go:embed open_document.md
var openDocumentDoc string

const openDocumentSchema = `{
	"type": "object", "additionalProperties": false, "required": ["citation_number", "reason"],
	"properties": {
		"citation_number": {"type": "integer", "minimum": 1, "maximum": 999, "description": "The passage's number n"},
		"reason": {"type": "string", "minLength": 1, "maxLength": 300, "description": "Why, for the user"}
	}
}`

type openDocumentInput struct {
	CitationNumber int    `json:"citation_number"`
	Reason         string `json:"reason"`
}

func openDocument() (*tool, error) {
	return toolKind[openDocumentInput]{
		name: "open_document", action: chat.ActionOpening, doc: openDocumentDoc, schema: openDocumentSchema,
		doing: func(d *desk, in openDocumentInput) string {
			if src, ok := d.sources.at(in.CitationNumber); ok {
				return "Opening " + filename(src.document)
			}
			return "Opening a document"
		},
		do: func(_ context.Context, d *desk, in openDocumentInput) (result, error) {
			src, ok := d.sources.at(in.CitationNumber)
			if !ok {
				return refuse("There is no passage with the number %d. Use the number n of a passage that you were shown.", in.CitationNumber)
			}
			where := ""
			if src.passage.Page > 0 {
				where = fmt.Sprintf(" at page %d", src.passage.Page)
			}
			place := map[string]any{
				"citation_number": src.n, "doc_id": src.document.ID, "document_id": src.document.ID, "filename": filename(src.document),
				"chunk_id": src.passage.ID, "block_id": src.passage.FirstBlock, "page": src.passage.Page, "section": src.passage.Section,
				"start": src.passage.Start, "end": src.passage.End,
				"url": "/d/" + url.PathEscape(src.document.ID) + "?p=" + url.QueryEscape(src.passage.ID) + "#" + src.passage.FirstBlock, "reason": in.Reason,
			}
			return result{
				message: "Opened " + filename(src.document) + where, summary: shorten(in.Reason, 120), details: place,
				output: func(numberer) any {
					out := map[string]any{"opened": true}
					for k, v := range place {
						out[k] = v
					}
					return out
				},
			}, nil
		},
	}.build()
}
