package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

//go:embed read_document.md
var readDocumentDoc string

// readDocumentSchema counts parts from 1. A focus and a page may both be given: the focus decides what is read first.
const readDocumentSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_id"],
	"properties": {
		"doc_id": {"type": "string", "minLength": 1, "maxLength": 500,
			"description": "The document's id, title or file name"},
		"focus_query": {"type": "string", "maxLength": 1000, "description": "Read the parts about this first"},
		"page": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 1,
			"description": "Which reading page of a long document"}
	}
}`

// readDocumentInput are the arguments of read_document. Its page is a part of a long document (corpus.Reading.Part),
// not a page of a PDF.
type readDocumentInput struct {
	DocID      string `json:"doc_id"`
	FocusQuery string `json:"focus_query"`
	Page       int    `json:"page"`
}

// ReadDocumentOutput is a reading page of a document.
//
// Page and Pages count reading pages, PageCount those of the document, such as a PDF's; the latter is 0 where there
// are none. Passages are in the order of the document.
type ReadDocumentOutput struct {
	DocID     string         `json:"doc_id"`
	Filename  string         `json:"filename"`
	Title     string         `json:"title"`
	PageCount int            `json:"page_count"`
	Page      int            `json:"page"`
	Pages     int            `json:"pages"`
	Content   string         `json:"content,omitempty"`
	Passages  []ShownPassage `json:"passages"`
}

// ForModel tells the text once: as passages.
func (o ReadDocumentOutput) ForModel() any {
	o.Content, o.Passages = "", withoutChunks(o.Passages)
	return o
}

// readDocument is the tool that reads a document part by part, or what bears on a question first. A page number beyond
// the last is refused with how many there are. It is the tool that stands in for reading first (preference 1).
// SourceChanges has the document, so that the run knows its name and its version.
func readDocument() (*Tool, error) {
	return definition[readDocumentInput]{
		name: "read_document", action: chat.ActionReading, capability: chat.CapabilityRead, preference: 1,
		modelView: viewOf[ReadDocumentOutput], retrieval: true, cached: true,
		doc: readDocumentDoc, schema: readDocumentSchema, aliases: map[string]string{"document_id": "doc_id"},
		label: chat.Label{
			Doing: "Reading", Done: "Read", Noun: "reading", Argument: "doc_id", Form: chat.LabelTitle,
		},
		describe: func(d *Context, in readDocumentInput) string { return "Reading " + d.displayName(in.DocID) },
		run: func(ctx context.Context, d *Context, in readDocumentInput) (Result, error) {
			doc, why, err := d.Resolve(ctx, in.DocID)
			if err != nil {
				return Result{}, fmt.Errorf("find document: %w", err)
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			r, err := d.Library.Read(
				ctx, d.ReadScope(), corpus.ReadRequest{Document: doc.ID, Focus: in.FocusQuery, Part: in.Page},
			)
			if err != nil {
				return explainUnread(doc, err)
			}
			// A model that counts on after the end gets the number, and need not guess it.
			if r.Parts > 0 && in.Page > r.Parts {
				return refusedResult("%s has %s: ask for one of them.", doc.DisplayName(),
					english.Count(r.Parts, "page"))
			}
			summary := english.Count(len(r.Passages), "passage")
			if r.Parts > 1 {
				summary = fmt.Sprintf("%s, part %d of %d", english.Count(len(r.Passages), "passage"), r.Part, r.Parts)
			}
			return Result{
				Message: "Read " + doc.DisplayName(), Summary: summary,
				Output: func(number Numberer) (any, chat.StepResult) {
					return readResult(number, r, cmp.Or(in.FocusQuery, in.DocID))
				},
				SourceChanges: SourceChanges{Documents: []corpus.Document{r.Document}},
			}, nil
		},
	}.buildTool()
}

// readOutput numbers the passages of a reading, in the order of the document. Content is the same text once more, for
// programs; models get the passages.
func readOutput(number Numberer, r corpus.Reading) ReadDocumentOutput {
	out := ReadDocumentOutput{
		DocID: r.Document.ID, Filename: r.Document.DisplayName(), Title: r.Document.DisplayTitle(),
		PageCount: r.Document.Pages,
		Page:      r.Part, Pages: r.Parts, Passages: make([]ShownPassage, 0, len(r.Passages)),
	}
	for _, p := range r.Passages {
		out.Passages = append(out.Passages, showPassage(number, p, r.Document))
	}
	out.Content = joinPassages(out.Passages)
	return out
}

// readResult is one document that was read. query is what the reading was about.
func readResult(number Numberer, r corpus.Reading, query string) (any, chat.StepResult) {
	out := readOutput(number, r)
	return out, chat.StepResult{
		Query: query, Title: out.Title, Found: len(out.Passages), Hits: passageHits(r.Document, out.Passages),
		Opened: []chat.OpenedPart{readPartOf(r)},
	}
}

// readPartOf says which part of which document was read, for the coverage of the answer.
//
// Coverage is what an answer tells of how much was read of which document.
func readPartOf(r corpus.Reading) chat.OpenedPart {
	return chat.OpenedPart{DocumentID: r.Document.ID, Part: readingPage(r)}
}

// readingPage tells the parts of a document apart that can be read; a focused reading is a part of its own.
func readingPage(r corpus.Reading) string {
	if r.Focused && len(r.Passages) > 0 {
		return r.Passages[0].ID
	}
	return strconv.Itoa(r.Part)
}

// explainUnread says why a document that is there can't be read: some reasons the model can do something about. Why a
// document can't be read is told to the model where waiting or choosing another one helps; else the call fails.
func explainUnread(doc corpus.Document, err error) (Result, error) {
	switch chat.CodeOf(err) {
	case chat.CodeNotFound, chat.CodeConflict, chat.CodeInvalid:
		return refusedResult("%s can't be read: %s", doc.DisplayName(), chat.MessageOf(err))
	default:
		return Result{}, fmt.Errorf("read document: %w", err)
	}
}
