package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/footnote/footnote/chat"
)

//go:embed cite_source.md
var citeSourceDoc string

// citeSourceSchema has the fields that models trained for these tools write. All are required for compatibility with
// these models, although block_id is not used. Passage numbers start at 1.
const citeSourceSchema = `{
	"type": "object", "additionalProperties": false, "required": ["cited_text", "block_id", "citation_number"],
	"properties": {
		"cited_text": {"type": "string", "minLength": 1, "maxLength": 4000,
			"description": "The words, exactly as they stand in the document"},
		"block_id": {"type": "string", "maxLength": 40, "description": "The block they stand in, like b12"},
		"citation_number": {"type": "integer", "minimum": 1, "maximum": 999, "description": "The passage's number n"}
	}
}`

// citeSourceInput holds the arguments of cite_source. block_id is ignored: the words are searched in the whole
// passage, then in its document.
type citeSourceInput struct {
	CitedText      string `json:"cited_text"`
	BlockID        string `json:"block_id"`
	CitationNumber int    `json:"citation_number"`
}

// citeSourceOutput is the location of the quote. Start and End are rune offsets in the document's text; Boxes are in
// fractions of a page. Check is the quality of the match (chat.Check). Quote is the document's wording, which may
// differ from the model's.
//
// CitationNumber is the number of the passage and of the answer's footnote. Page counts from 1 and is omitted if the
// document has no pages.
type citeSourceOutput struct {
	CitationNumber int        `json:"citation_number"`
	DocID          string     `json:"doc_id"`
	Filename       string     `json:"filename"`
	BlockID        string     `json:"block_id"`
	Page           int        `json:"page,omitempty"`
	Section        string     `json:"section,omitempty"`
	Quote          string     `json:"quote"`
	Check          chat.Check `json:"check"`
	Start          int        `json:"start"`
	End            int        `json:"end"`
	Boxes          []chat.Box `json:"boxes"`
	ChunkID        string     `json:"chunk_id,omitempty"`
}

// ForModel omits the fields that only a viewer needs.
func (o citeSourceOutput) ForModel() any {
	o.ChunkID, o.Boxes = "", []chat.Box{}
	return o
}

// stepResult keeps the words as the model wrote them: the answer's writer searches the passage for them again.
func (o citeSourceOutput) stepResult(words string) chat.StepResult {
	r := chat.StepResult{Title: o.Filename, Quote: &chat.QuotedWords{N: o.CitationNumber, Words: words}}
	for _, fact := range []chat.Fact{
		{Name: "block_id", Value: o.BlockID}, {Name: "check", Value: string(o.Check)},
		{Name: "citation_number", Value: strconv.Itoa(o.CitationNumber)},
		{Name: "end", Value: strconv.Itoa(o.End)}, {Name: "page", Value: strconv.Itoa(o.Page)},
		{Name: "quote", Value: o.Quote},
		{Name: "section", Value: o.Section}, {Name: "start", Value: strconv.Itoa(o.Start)},
	} {
		// A zero means that the fact does not apply; it is not shown on the page.
		if fact.Value != "" && fact.Value != "0" {
			r.Facts = append(r.Facts, fact)
		}
	}
	return r
}

// citeSource returns the tool that validates a quote before an answer uses it. Words that are not in the document
// are refused, so that the model copies them exactly or cites another passage. The quote is stored for the answer's
// footnote. The call does not count against the budget of searches and reads.
func citeSource() (*Tool, error) {
	return definition[citeSourceInput]{
		name: "cite_source", action: chat.ActionAnalysing, capability: chat.CapabilityCite,
		modelView: viewOf[citeSourceOutput], doc: citeSourceDoc, schema: citeSourceSchema,
		label: chat.Label{
			Doing: "Checking the quote", Done: "Checked the quote", Noun: "quote check", Argument: "cited_text",
			Form: chat.LabelQuote,
		},
		describe: func(d *Context, in citeSourceInput) string {
			if src, ok := d.Sources.At(in.CitationNumber); ok {
				return "Checking a quote from " + src.Document.DisplayName()
			}
			return "Checking a quote"
		},
		run: func(ctx context.Context, d *Context, in citeSourceInput) (Result, error) {
			// The number may be that of any passage this run was shown.
			src, ok := d.Sources.At(in.CitationNumber)
			if !ok {
				return refusedResult(
					"There is no passage with the number %d. Use the number n of a passage that you were shown.",
					in.CitationNumber,
				)
			}
			// Locate comes first: a quote that is not found has no place to compute.
			found, err := d.Texts.Locate(ctx, src, in.CitedText)
			if err != nil {
				return Result{}, fmt.Errorf("find quote: %w", err)
			}
			if found.Check == chat.CheckNotFound {
				return refusedResult(
					"These words do not stand in passage %d of %s. Copy them exactly, or cite another passage.",
					in.CitationNumber, src.Document.DisplayName(),
				)
			}
			at, err := d.Texts.Place(ctx, src, found)
			if err != nil {
				return Result{}, err
			}
			// An approximate match has small differences, such as other quotation marks. The message reports that.
			message := "Quote found word for word in " + src.Document.DisplayName()
			if found.Check == chat.CheckApproximate {
				message = "Quote found, in slightly other words, in " + src.Document.DisplayName()
			}
			return Result{
				Message: message, Summary: string(found.Check),
				Output: func(Numberer) (any, chat.StepResult) {
					out := citeSourceOutput{
						CitationNumber: src.N, DocID: src.Document.ID, Filename: src.Document.DisplayName(),
						BlockID: at.Block,
						Page:    at.Page, Section: at.Section, Quote: found.Quote, Check: found.Check,
						Start: found.Start, End: found.End,
						Boxes: at.Boxes, ChunkID: src.Passage.ID,
					}
					return out, out.stepResult(in.CitedText)
				},
			}, nil
		},
	}.buildTool()
}
