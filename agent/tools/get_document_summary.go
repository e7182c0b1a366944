package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

//go:embed get_document_summary.md
var documentSummaryDoc string

// documentSummarySchema takes a document by whatever the model calls it: Context.Resolve finds it.
const documentSummarySchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_id"],
	"properties": {"doc_id": {"type": "string", "minLength": 1, "maxLength": 500,
		"description": "The document's id, title or file name"}}
}`

// The size of a summary. The bounds keep a summary to what a model reads at once; they are choices and not measured.
const (
	summaryOutline   = 40
	summarySentences = 5  // at least
	summarySections  = 12 // of which each has a key sentence
	summaryPages     = 4  // of a long document that are looked at
	summaryEnough    = 10 // passages that state something: no further page is read
)

// documentSummaryInput are the arguments of get_document_summary.
type documentSummaryInput struct {
	DocID string `json:"doc_id"`
}

// documentSummaryOutput is a summary: headings, key sentences word for word, and the passages that they stand in, so
// that each can be cited.
type documentSummaryOutput struct {
	DocID        string         `json:"doc_id"`
	Filename     string         `json:"filename"`
	Title        string         `json:"title"`
	PageCount    int            `json:"page_count"`
	Outline      []string       `json:"outline"`
	KeySentences []string       `json:"key_sentences"`
	Passages     []ShownPassage `json:"passages"`
}

// ForModel leaves out the ids of passages, which models do without: they cite by number.
func (o documentSummaryOutput) ForModel() any {
	o.Passages = withoutChunks(o.Passages)
	return o
}

// documentSummary is the tool that says what a document is about. No model writes it: it is headings and sentences of
// the document, so it is exact and costs nothing. The steps: find the document, skim its first pages, pick sentences,
// and when the output is made, number the passages that these stand in. The first passage is always among them, as it
// says what the document is. Results are cached: they depend on the document alone.
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
					// Passages are added in the order of the sentences, each once, the first one before all.
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

// summaryLength is how many key sentences a summary has: one for each section, within bounds. The sections are those of
// the sentences that were read, so a long document whose first pages are one section gets summarySentences.
func summaryLength(passages []corpus.Passage) int {
	parts, partOf := map[string]bool{}, partsOf(passages)
	for i, p := range passages {
		for _, span := range text.Sentences(p.Text) {
			parts[partOf(i, span[0])] = true
		}
	}
	return min(max(summarySentences, len(parts)), summarySections)
}

// skimPages reads a document's first pages until enough of their passages state something. Those of a table of contents
// or an index do not, and are left out unless there are no others. pages is never empty without an error.
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
