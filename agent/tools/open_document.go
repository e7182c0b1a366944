package tools

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

//go:embed open_document.md
var openDocumentDoc string

// openDocumentSchema accepts a passage number or a document. placeToOpen refuses a call with neither.
const openDocumentSchema = `{
	"type": "object", "additionalProperties": false, "required": ["reason"],
	"properties": {
		"citation_number": {"type": "integer", "minimum": 1, "maximum": 999,
			"description": "The passage's number n: opens its document at the passage, or at the words that you ` +
	`quoted from it"},
		"doc_id": {"type": "string", "minLength": 1, "maxLength": 500,
			"description": "Instead of a number: the document's id, title or file name"},
		"reason": {"type": "string", "minLength": 1, "maxLength": 300, "description": "Why, for the user"}
	}
}`

// openDocumentInput holds the arguments of open_document: a number or a document, and the reason for the user.
type openDocumentInput struct {
	CitationNumber int    `json:"citation_number"`
	DocID          string `json:"doc_id"`
	Reason         string `json:"reason"`
}

// openDocumentOutput is the location that the viewer opens.
type openDocumentOutput struct {
	Opened         bool   `json:"opened"`
	CitationNumber int    `json:"citation_number,omitempty"`
	DocID          string `json:"doc_id"`
	DocumentID     string `json:"document_id"`
	Filename       string `json:"filename"`
	ChunkID        string `json:"chunk_id,omitempty"`
	BlockID        string `json:"block_id,omitempty"`
	Page           int    `json:"page,omitempty"`
	Section        string `json:"section,omitempty"`
	Start          int    `json:"start"`
	End            int    `json:"end"`
	URL            string `json:"url"`
	Reason         string `json:"reason"`
}

// stepResult returns one hit with the URL that the viewer opens.
func (o openDocumentOutput) stepResult(asked string) chat.StepResult {
	return chat.StepResult{Query: asked, Title: o.Filename, Hits: []chat.Hit{{
		DocumentID: o.DocID, ChunkID: o.ChunkID, BlockID: o.BlockID, Title: o.Filename, Page: o.Page,
		Section: o.Section, URL: o.URL,
	}}}
}

// openDocument returns the tool that shows the user a document, at the cited words if there are any. The model gets
// no text from it. It is not a retrieval and not cached: the page opens the viewer from Details.
func openDocument() (*Tool, error) {
	return definition[openDocumentInput]{
		name: "open_document", action: chat.ActionOpening, capability: chat.CapabilityOpen, doc: openDocumentDoc,
		schema: openDocumentSchema, aliases: map[string]string{"document_id": "doc_id"},
		label: chat.Label{Doing: "Opening", Done: "Opened", Argument: "doc_id", Form: chat.LabelTitle},
		describe: func(d *Context, in openDocumentInput) string {
			if src, ok := d.Sources.At(in.CitationNumber); ok {
				return "Opening " + src.Document.DisplayName()
			}
			if in.DocID != "" {
				return "Opening " + d.displayName(in.DocID)
			}
			return "Opening a document"
		},
		run: func(ctx context.Context, d *Context, in openDocumentInput) (Result, error) {
			out, why, err := d.placeToOpen(ctx, in)
			if err != nil {
				return Result{}, err
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			where := ""
			if out.Page > 0 {
				where = fmt.Sprintf(" at page %d", out.Page)
			}
			return Result{
				Message: "Opened " + out.Filename + where, Summary: text.Shorten(in.Reason, 120),
				Details: map[string]any{"url": out.URL, "document_id": out.DocID, "page": out.Page},
				Output:  func(Numberer) (any, chat.StepResult) { return out, out.stepResult(in.DocID) },
			}, nil
		},
	}.buildTool()
}

// placeToOpen resolves the location to open: that of a footnote, of the model's quote from a passage, the passage,
// or the document's beginning. why is a refusal for the model. A footnote of an earlier answer keeps its location.
// Of several quotes from one passage the first that is found is used. The link has a page only if it differs from
// the passage's first page.
func (d *Context) placeToOpen(
	ctx context.Context, in openDocumentInput,
) (out openDocumentOutput, why string, err error) {
	if in.CitationNumber == 0 {
		if in.DocID == "" {
			return out, "Name what to open: citation_number, the number n of a passage, or doc_id.", nil
		}
		doc, why, err := d.Resolve(ctx, in.DocID)
		if err != nil {
			return out, "", fmt.Errorf("find document: %w", err)
		}
		return openDocumentOutput{
			Opened: true, DocID: doc.ID, DocumentID: doc.ID, Filename: doc.DisplayName(),
			URL: chat.Link{Document: doc.ID}.String(), Reason: in.Reason,
		}, why, nil
	}
	src, ok := d.Sources.At(in.CitationNumber)
	if !ok {
		return out, fmt.Sprintf(
			"There is no passage with the number %d. Use the number n of a passage that you were shown.",
			in.CitationNumber,
		), nil
	}
	out = openDocumentOutput{
		Opened: true, CitationNumber: src.N, DocID: src.Document.ID, DocumentID: src.Document.ID,
		Filename: src.Document.DisplayName(), ChunkID: src.Passage.ID,
		BlockID: src.Passage.FirstBlock, Page: src.Passage.Page, Section: src.Passage.Section,
		Start: src.Passage.Start, End: src.Passage.End, Reason: in.Reason,
		URL: chat.Link{Document: src.Document.ID, Passage: src.Passage.ID, Fragment: src.Passage.FirstBlock}.String(),
	}
	if c := src.EarlierCitation; c != nil {
		out.Page, out.Section, out.BlockID, out.Start, out.End, out.URL = c.Page, c.Section, c.BlockID, c.Start,
			c.End, c.URL
		return out, "", nil
	}
	for _, words := range src.Quotes {
		found, err := d.Texts.Locate(ctx, src, words)
		if err != nil {
			return out, "", fmt.Errorf("find quote: %w", err)
		}
		if found.Check == chat.CheckNotFound {
			continue
		}
		at, err := d.Texts.Place(ctx, src, found)
		if err != nil {
			return out, "", err
		}
		out.Page, out.BlockID, out.Section, out.Start, out.End = at.Page, at.Block, at.Section, found.Start, found.End
		link := chat.Link{
			Document: src.Document.ID, Passage: src.Passage.ID, Start: found.Start, End: found.End, Fragment: at.Block,
		}
		if out.Page > src.Passage.Page {
			link.Page = out.Page
		}
		out.URL = link.String()
		break
	}
	return out, "", nil
}
