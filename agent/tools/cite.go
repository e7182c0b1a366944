package tools

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// source returns the source with a passage number that the run was shown.
func (d *Context) source(n int) (cite.Source, error) {
	src, ok := d.Sources.At(n)
	if !ok {
		return src, refused(
			"Passage {1} not found. Use the number n of a passage that you were shown.", n,
		)
	}
	return src, nil
}

// citeSource validates a quote before an answer uses it. The words are searched in the whole passage, then in its
// document, so the model's block_id is ignored. Words that are not in the document are refused, so that the model
// copies them exactly or cites another passage. The quote is stored for the answer's footnote.
func citeSource(ctx context.Context, d *Context, in args) (Result, error) {
	src, err := d.source(in.CitationNumber)
	if err != nil {
		return Result{}, err
	}
	name := src.Document.DisplayName()
	found, err := d.Texts.Locate(ctx, src, in.CitedText)
	if err != nil {
		return Result{}, fmt.Errorf("find quote: %w", err)
	}
	if found.Check == chat.CheckNotFound {
		return Result{}, refused(
			"Quote not found in passage {1} of {2}. Copy it exactly, or cite another passage.", src.N, name,
		)
	}
	at, err := d.Texts.Place(ctx, src, found)
	if err != nil {
		return Result{}, err
	}
	// An approximate match has small differences, such as other quotation marks. The message reports that.
	message := "Quote found word for word in " + name
	if found.Check == chat.CheckApproximate {
		message = "Quote found, in slightly other words, in " + name
	}
	// Start and end are rune offsets in the document's text; boxes are in fractions of a page. The quote has the
	// document's wording, which may differ from the model's. Page counts from 1.
	values := map[string]any{
		"citation_number": src.N, "doc_id": src.Document.ID, "filename": name, "block_id": at.Block,
		"page": given(at.Page), "section": given(at.Section), "quote": found.Quote, "check": found.Check,
		"start": found.Start, "end": found.End, "boxes": at.Boxes, "chunk_id": given(src.Passage.ID),
	}
	// The words as the model wrote them: the answer's writer searches the passage for them again.
	result := chat.StepResult{Title: name, Quote: &chat.QuotedWords{N: src.N, Words: in.CitedText}}
	for _, f := range pick("block_id check citation_number end page quote section start", values) {
		if said := fmt.Sprint(f.value); said != "" && said != "0" { // a zero means that the fact does not apply
			result.Facts = append(result.Facts, chat.Fact{Name: f.name, Value: said})
		}
	}
	out := pick("citation_number doc_id filename block_id page section quote check start end boxes chunk_id", values)
	return Result{
		Message: locale.Message(message), Summary: locale.Message(found.Check),
		Output: func(Numberer) (any, chat.StepResult) { return out, result },
	}, nil
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

// openDocument shows the user a document, at the cited words if there are any. The model gets no text from it. The page
// opens the viewer from Details.
func openDocument(ctx context.Context, d *Context, in args) (Result, error) {
	out, err := d.placeToOpen(ctx, in)
	if err != nil {
		return Result{}, err
	}
	where := ""
	if out.Page > 0 {
		where = fmt.Sprintf(" at page %d", out.Page)
	}
	return Result{
		Message: locale.Say("Opened {1}{2}", out.Filename, where),
		Summary: locale.Message(text.Shorten(in.Reason, 120)),
		Details: map[string]any{"url": out.URL, "document_id": out.DocID, "page": out.Page},
		Output: func(Numberer) (any, chat.StepResult) {
			return out, chat.StepResult{Query: in.DocID, Title: out.Filename, Hits: []chat.Hit{{
				DocumentID: out.DocID, ChunkID: out.ChunkID, BlockID: out.BlockID, Title: out.Filename, Page: out.Page,
				Section: out.Section, URL: out.URL,
			}}}
		},
	}, nil
}

// placeToOpen resolves the location to open: that of a footnote, of the model's quote from a passage, the passage,
// or the document's beginning. A footnote of an earlier answer keeps its location. Of several quotes from one passage
// the first that is found is used. The link has a page only if it differs from the passage's first page.
func (d *Context) placeToOpen(ctx context.Context, in args) (out openDocumentOutput, err error) {
	if in.CitationNumber == 0 {
		if in.DocID == "" {
			return out, refused("Name what to open: citation_number, the number n of a passage, or doc_id.")
		}
		doc, err := d.find(ctx, in.DocID)
		return openDocumentOutput{
			Opened: true, DocID: doc.ID, DocumentID: doc.ID, Filename: doc.DisplayName(),
			URL: chat.Link{Document: doc.ID}.String(), Reason: in.Reason,
		}, err
	}
	src, err := d.source(in.CitationNumber)
	if err != nil {
		return out, err
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
		return out, nil
	}
	for _, words := range src.Quotes {
		found, err := d.Texts.Locate(ctx, src, words)
		if err != nil {
			return out, fmt.Errorf("find quote: %w", err)
		}
		if found.Check == chat.CheckNotFound {
			continue
		}
		at, err := d.Texts.Place(ctx, src, found)
		if err != nil {
			return out, err
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
	return out, nil
}
