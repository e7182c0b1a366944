package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

//go:embed read_document.md
var readDocumentDoc string

// readDocumentSchema counts pages from 1. If focus and page are both given, the focus determines the order of
// reading.
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

// readDocumentInput holds the arguments of read_document. Page is a reading page, a part of a long document
// (corpus.Reading.Part), not a page of a PDF.
type readDocumentInput struct {
	DocID      string `json:"doc_id"`
	FocusQuery string `json:"focus_query"`
	Page       int    `json:"page"`
}

// ReadDocumentOutput is a reading page of a document.
//
// Page and Pages count reading pages. PageCount counts the document's own pages, such as a PDF's, and is 0 if it has
// none. Passages are in the order of the document.
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

// ForModel omits the content, which repeats the passages, and the passages' ids.
func (o ReadDocumentOutput) ForModel() any {
	o.Content, o.Passages = "", withoutChunks(o.Passages)
	return o
}

// readDocument returns the tool that reads a document page by page, or the parts about a focus first. A page beyond
// the last is refused with the number of pages. It is the first fallback for other reading tools (preference 1).
// SourceChanges has the document, so that the run's sources have its name and version.
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
			// The refusal has the number of pages, so that the model need not guess it.
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

// readOutput assigns numbers to the passages of a reading, in the order of the document. Content repeats the text
// for API clients; models get the passages.
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

// readResult builds the output for one document that was read. query is the focus, or the reference by which the
// document was requested.
func readResult(number Numberer, r corpus.Reading, query string) (any, chat.StepResult) {
	out := readOutput(number, r)
	return out, chat.StepResult{
		Query: query, Title: out.Title, Found: len(out.Passages), Hits: passageHits(r.Document, out.Passages),
		Opened: []chat.OpenedPart{readPartOf(r)},
	}
}

// readPartOf returns the document and the part that was read, for the answer's coverage: a summary of how much of
// each document was read.
func readPartOf(r corpus.Reading) chat.OpenedPart {
	return chat.OpenedPart{DocumentID: r.Document.ID, Part: readingPage(r)}
}

// readingPage returns a key for the part that was read. A focused reading is keyed by its first passage.
func readingPage(r corpus.Reading) string {
	if r.Focused && len(r.Passages) > 0 {
		return r.Passages[0].ID
	}
	return strconv.Itoa(r.Part)
}

// explainUnread converts an error of a read to a refusal if the model can correct it by waiting or choosing another
// document. Any other error fails the call.
func explainUnread(doc corpus.Document, err error) (Result, error) {
	switch chat.CodeOf(err) {
	case chat.CodeNotFound, chat.CodeConflict, chat.CodeInvalid:
		return refusedResult("%s can't be read: %s", doc.DisplayName(), chat.MessageOf(err))
	default:
		return Result{}, fmt.Errorf("read document: %w", err)
	}
}

//go:embed read_multiple_documents.md
var readMultipleDocumentsDoc string

// readMultipleDocumentsSchema limits a call to ten documents, as more would leave too few runes for each.
const readMultipleDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_ids"],
	"properties": {
		"doc_ids": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"type": "string", "minLength": 1,
			"maxLength": 500}, "description": "Ids, titles or file names"},
		"focus_query": {"type": "string", "maxLength": 1000, "description": "Read the parts about this"}
	}
}`

// readTogether is the number of runes that the documents of one call share. Ten documents get 2,400 runes each. The
// value was not measured.
const readTogether = 24_000

// readMultipleDocumentsInput holds the arguments of read_multiple_documents: at most ten documents.
type readMultipleDocumentsInput struct {
	DocIDs     []string `json:"doc_ids"`
	FocusQuery string   `json:"focus_query"`
}

// ReadMultipleDocumentsOutput holds a reading of each document, in the order of the call.
//
// Notes name the documents that were not found; the others are read.
type ReadMultipleDocumentsOutput struct {
	Documents []ReadDocumentOutput `json:"documents"`
	Notes     []string             `json:"notes,omitempty"`
}

// ForModel omits the repeated text of each document.
func (o ReadMultipleDocumentsOutput) ForModel() any {
	docs := make([]any, len(o.Documents))
	for i, doc := range o.Documents {
		docs[i] = doc.ForModel()
	}
	return map[string]any{"documents": docs, "notes": o.Notes}
}

// readMultipleDocuments returns the tool that reads the beginnings of several documents, or the parts about a focus,
// for comparisons. They share readTogether runes; four are read concurrently. A document that is not found becomes a
// note. The first read that fails ends the call.
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
			// The limit of four leaves database connections for other calls; it was not measured.
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

//go:embed get_document_summary.md
var documentSummaryDoc string

// documentSummarySchema accepts any reference that Context.Resolve accepts.
const documentSummarySchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_id"],
	"properties": {"doc_id": {"type": "string", "minLength": 1, "maxLength": 500,
		"description": "The document's id, title or file name"}}
}`

// The size of a summary. The limits keep it short enough for one turn of a model; they were not measured.
const (
	summaryOutline   = 40
	summarySentences = 5  // minimum
	summarySections  = 12 // maximum number of sections with a key sentence
	summaryPages     = 4  // maximum number of reading pages that are read
	summaryEnough    = 10 // passages with statements after which no further page is read
)

// documentSummaryInput holds the arguments of get_document_summary.
type documentSummaryInput struct {
	DocID string `json:"doc_id"`
}

// documentSummaryOutput is a summary: headings, key sentences word for word, and their passages, so that each can be
// cited.
type documentSummaryOutput struct {
	DocID        string         `json:"doc_id"`
	Filename     string         `json:"filename"`
	Title        string         `json:"title"`
	PageCount    int            `json:"page_count"`
	Outline      []string       `json:"outline"`
	KeySentences []string       `json:"key_sentences"`
	Passages     []ShownPassage `json:"passages"`
}

// ForModel omits the passage ids, since models cite by number.
func (o documentSummaryOutput) ForModel() any {
	o.Passages = withoutChunks(o.Passages)
	return o
}

// documentSummary returns the tool that summarises a document. It is extractive: headings and sentences of the
// document, so it is exact and needs no model. It finds the document, reads its first pages and picks key sentences.
// When the output is made, it assigns numbers to their passages. The first passage is always included, as it
// introduces the document. Results are cached, since they depend on the document alone.
func documentSummary() (*Tool, error) {
	return definition[documentSummaryInput]{
		name: "get_document_summary", action: chat.ActionSummarising, capability: chat.CapabilitySummarise,
		modelView: viewOf[documentSummaryOutput], retrieval: true, cached: true,
		doc: documentSummaryDoc, schema: documentSummarySchema, aliases: map[string]string{"document_id": "doc_id"},
		label: chat.Label{
			Doing: "Summarising", Done: "Summarised", Noun: "summary", Argument: "doc_id", Form: chat.LabelTitle,
		},
		describe: func(d *Context, in documentSummaryInput) string { return "Summarising " + d.displayName(in.DocID) },
		run: func(ctx context.Context, d *Context, in documentSummaryInput) (Result, error) {
			doc, why, err := d.Resolve(ctx, in.DocID)
			if err != nil {
				return Result{}, fmt.Errorf("find document: %w", err)
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			pages, passages, err := d.skimPages(ctx, doc)
			if err != nil {
				return explainUnread(doc, err)
			}
			r := pages[0]
			key := keySentences(passages, doc.Language, summaryLength(passages), "")
			return Result{
				Message: "Summarised " + doc.DisplayName(),
				Summary: english.Count(len(r.Outline), "heading") + ", " + english.Count(len(key), "key sentence"),
				Output: func(number Numberer) (any, chat.StepResult) {
					out := documentSummaryOutput{
						DocID: doc.ID, Filename: doc.DisplayName(), Title: doc.DisplayTitle(), PageCount: doc.Pages,
						Outline: outlineLines(r.Outline), KeySentences: []string{}, Passages: []ShownPassage{},
					}
					// Passages are in the order of the sentences, deduplicated, with the first passage before all
					// others.
					shownAlready := map[int]bool{}
					add := func(i int) {
						if !shownAlready[i] && len(out.Passages) <= summarySections {
							shownAlready[i] = true
							out.Passages = append(out.Passages, showPassage(number, passages[i], doc))
						}
					}
					if len(passages) > 0 {
						add(0)
					}
					for _, k := range key {
						out.KeySentences = append(out.KeySentences, k.text)
						add(k.passage)
					}
					result := chat.StepResult{
						Query: in.DocID, Title: out.Title, Found: len(out.Passages),
						Hits: passageHits(doc, out.Passages), Outline: out.Outline,
						Text: strings.Join(out.KeySentences, "\n\n"),
					}
					for _, page := range pages {
						result.Opened = append(result.Opened, readPartOf(page))
					}
					return out, result
				},
				SourceChanges: SourceChanges{Documents: []corpus.Document{doc}},
			}, nil
		},
	}.buildTool()
}

// summaryLength returns the number of key sentences: one for each section, from summarySentences to summarySections.
// Only sections that were read count, so a long document whose first pages are one section gets summarySentences.
func summaryLength(passages []corpus.Passage) int {
	parts, partOf := map[string]bool{}, partsOf(passages)
	for i, p := range passages {
		for _, span := range text.Sentences(p.Text) {
			parts[partOf(i, span[0])] = true
		}
	}
	return min(max(summarySentences, len(parts)), summarySections)
}

// skimPages reads a document's first pages until summaryEnough passages have statements. Passages of a table of
// contents or an index are excluded, unless there are no others. pages is never empty without an error.
func (d *Context) skimPages(
	ctx context.Context, doc corpus.Document,
) (pages []corpus.Reading, passages []corpus.Passage, err error) {
	for n := 1; n <= summaryPages && len(passages) < summaryEnough; n++ {
		page, err := d.Library.Read(ctx, d.ReadScope(), corpus.ReadRequest{Document: doc.ID, Part: n})
		if err != nil {
			return nil, nil, err
		}
		pages = append(pages, page)
		for _, p := range page.Passages {
			if !text.Directory(p.Text) {
				passages = append(passages, p)
			}
		}
		if n >= page.Parts {
			break
		}
	}
	if len(passages) == 0 {
		passages = pages[0].Passages
	}
	return pages, passages, nil
}

// outlineLines indents the first headings by their level, two spaces each.
func outlineLines(items []corpus.OutlineItem) []string {
	out := []string{}
	for _, item := range items[:min(len(items), summaryOutline)] {
		out = append(out, strings.Repeat("  ", max(0, item.Level-1))+item.Title)
	}
	return out
}
