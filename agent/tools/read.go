package tools

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// Sizes of readings in runes. They were not measured.
const (
	lookupRunes  = 6000   // of a lookup: some four passages
	readTogether = 24_000 // shared by the documents of one call; ten documents get 2,400 each
)

// readingOutput is the output of a reading, a summary, or of several readings.
type readingOutput struct {
	object
	tenths int // share of an event's limit for its passages
}

// clipTo keeps a fifth of the limit for the text, and the share of the passages, which the page shows and footnotes
// need. Several documents divide it equally.
func (o readingOutput) clipTo(limit int) any {
	o.object = changed(o.object, func(f *field) {
		switch v := f.value.(type) {
		case string:
			if f.name == "content" {
				f.value = CutText(v, limit/5)
			}
		case []shownPassage:
			f.value = cutPassages(v, limit*o.tenths/10)
		case []readingOutput:
			each := limit*8/10/max(1, len(v)) - overhead
			f.value = changed(v, func(r *readingOutput) { *r, _ = r.clipTo(each).(readingOutput) })
		}
	})
	return o
}

// reading returns a row for a tool that reads documents.
func reading(name, sets string, preference int, t Tool) *Tool {
	t.Name, t.sets, t.preference = name, sets, preference
	t.Action, t.Capability, t.Retrieval, t.Cached = chat.ActionReading, chat.CapabilityRead, true, true
	t.forModel = without("content", "chunk_id")
	return &t
}

// reads returns the function that reads a document page by page, or the parts about a focus first. Runes limits a
// reading; 0: that of the library. done is the form of its message.
func reads(done string, runes int) func(context.Context, *Context, args) (Result, error) {
	return func(ctx context.Context, d *Context, in args) (Result, error) {
		doc, err := d.find(ctx, in.DocID)
		if err != nil {
			return Result{}, err
		}
		r, err := d.Library.Read(ctx, d.ReadScope(), corpus.ReadRequest{
			Document: doc.ID, Focus: in.FocusQuery, Part: in.Page, MaxRunes: runes,
		})
		if err != nil {
			return Result{}, explainUnread(doc, err)
		}
		summary := locale.Count(len(r.Passages), "passage")
		if r.Parts > 1 && runes == 0 {
			summary = locale.Say("{1}, part {2} of {3}", summary, r.Part, r.Parts)
		}
		return Result{
			Message: locale.Say(done, doc.DisplayName()), Summary: summary,
			Output: func(number Numberer) (any, chat.StepResult) {
				out, passages := readOutput(number, r)
				return out, chat.StepResult{ // its query is the focus, or the reference to the document
					Query: cmp.Or(in.FocusQuery, in.DocID), Title: r.Document.DisplayTitle(), Found: len(passages),
					Hits: passageHits(doc, passages), Opened: []chat.OpenedPart{readPartOf(r)},
				}
			},
			// the sources get the document as it was read
			SourceChanges: SourceChanges{Documents: []corpus.Document{r.Document}},
		}, nil
	}
}

// explainUnread returns the error of a read: a refusal, if the model can correct it by waiting or by choosing another
// document or page.
func explainUnread(doc corpus.Document, err error) error {
	switch chat.CodeOf(err) {
	case chat.CodeNotFound, chat.CodeConflict, chat.CodeInvalid:
		return refused("{1} can't be read: {2}", doc.DisplayName(), chat.MessageOf(err))
	default:
		return fmt.Errorf("read document: %w", err)
	}
}

// readOutput returns the output for a reading page of a document, and its passages. It assigns their numbers, in the
// order of the document. Page and pages count reading pages, and page_count the document's own pages, such as a PDF's.
// The content repeats the passages for API clients.
func readOutput(number Numberer, r corpus.Reading) (readingOutput, []shownPassage) {
	passages := []shownPassage{}
	for _, p := range r.Passages {
		passages = append(passages, showPassage(number, p, r.Document))
	}
	values := documentValues(r.Document)
	values["page_count"], values["page"], values["pages"] = r.Document.Pages, r.Part, r.Parts
	values["content"], values["passages"] = given(joinPassages(passages)), passages
	return readingOutput{pick("doc_id filename title page_count page pages content passages", values), 6}, passages
}

// readPartOf returns the document and the part that was read, for the answer's coverage: a summary of how much of
// each document was read. A focused reading is identified by its first passage.
func readPartOf(r corpus.Reading) chat.OpenedPart {
	part := strconv.Itoa(r.Part)
	if r.Focused && len(r.Passages) > 0 {
		part = r.Passages[0].ID
	}
	return chat.OpenedPart{DocumentID: r.Document.ID, Part: part}
}

// readDocuments reads the beginnings of several documents, or the parts about a focus, for comparisons. They share
// readTogether runes. A document that is not found becomes a note. The first read that fails ends the call.
func readDocuments(ctx context.Context, d *Context, in args) (Result, error) {
	docs, notes, err := d.findAll(ctx, in.DocIDs)
	if err != nil {
		return Result{}, err
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
	passages, count := 0, locale.Count(len(docs), "document")
	for _, r := range readings {
		passages += len(r.Passages)
	}
	return Result{
		Message: locale.Say("Read {1}", count),
		Summary: locale.Say("{1} in {2}", locale.Count(passages, "passage"), count),
		Output: func(number Numberer) (any, chat.StepResult) {
			documents := []readingOutput{}
			result := chat.StepResult{
				Query: cmp.Or(in.FocusQuery, strings.Join(in.DocIDs, ", ")), Found: len(readings), Notes: notes,
			}
			for _, r := range readings {
				read, passages := readOutput(number, r)
				documents = append(documents, read)
				result.Hits = append(result.Hits, withPassages(documentHit(r.Document), r.Document, passages)...)
				result.Opened = append(result.Opened, readPartOf(r))
			}
			out := object{{"documents", documents}}
			if len(notes) > 0 { // the documents that were not found; the others are read
				out = append(out, field{"notes", notes})
			}
			return readingOutput{object: out}, result
		},
		SourceChanges: SourceChanges{Documents: docs},
	}, nil
}

// The size of a summary. The limits keep it short enough for one turn of a model; they were not measured.
const (
	summaryOutline   = 40
	summarySentences = 5  // minimum
	summarySections  = 12 // maximum number of sections with a key sentence
	summaryPages     = 4  // maximum number of reading pages that are read
	summaryEnough    = 10 // passages with statements after which no further page is read
)

// summarizeDocument summarises a document. It is extractive: headings and sentences of the document, so it is exact
// and needs no model. It reads the document's first pages and picks key sentences. When the output is made, it assigns
// numbers to their passages. The first passage is always included, as it introduces the document.
func summarizeDocument(ctx context.Context, d *Context, in args) (Result, error) {
	doc, err := d.find(ctx, in.DocID)
	if err != nil {
		return Result{}, err
	}
	pages, passages, err := d.skimPages(ctx, doc)
	if err != nil {
		return Result{}, explainUnread(doc, err)
	}
	key := keySentences(passages, doc.Language, summaryLength(passages), "")
	return Result{
		Message: locale.Say("Summarized {1}", doc.DisplayName()),
		Summary: locale.Say(
			"{1}, {2}", locale.Count(len(pages[0].Outline), "heading"), locale.Count(len(key), "key sentence"),
		),
		Output: func(number Numberer) (any, chat.StepResult) {
			sentences, shown := []string{}, []shownPassage{}
			// Passages are in the order of the sentences, deduplicated, with the first passage before all others.
			shownAlready := map[int]bool{}
			add := func(i int) {
				if !shownAlready[i] && len(shown) <= summarySections {
					shownAlready[i] = true
					shown = append(shown, showPassage(number, passages[i], doc))
				}
			}
			if len(passages) > 0 {
				add(0)
			}
			for _, k := range key {
				sentences = append(sentences, k.text)
				add(k.passage)
			}
			values := documentValues(doc)
			outline := outlineLines(pages[0].Outline)
			values["page_count"], values["outline"] = doc.Pages, outline
			values["key_sentences"], values["passages"] = sentences, shown
			out := readingOutput{pick("doc_id filename title page_count outline key_sentences passages", values), 5}
			result := chat.StepResult{
				Query: in.DocID, Title: doc.DisplayTitle(), Found: len(shown), Hits: passageHits(doc, shown),
				Outline: outline, Text: strings.Join(sentences, "\n\n"),
			}
			for _, page := range pages {
				result.Opened = append(result.Opened, readPartOf(page))
			}
			return out, result
		},
		SourceChanges: SourceChanges{Documents: []corpus.Document{doc}},
	}, nil
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
