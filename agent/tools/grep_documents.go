package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

//go:embed grep_documents.md
var grepDocumentsDoc string

// grepDocumentsSchema bounds the pattern to 500 characters and the matches to 100: a turn of a model has no room for
// more.
const grepDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["pattern"],
	"properties": {
		"pattern": {"type": "string", "minLength": 1, "maxLength": 500, "description": "RE2 expression or plain text"},
		"doc_ids": {"type": "array", "maxItems": 50, "items": {"type": "string", "minLength": 1, "maxLength": 500},
			"description": "Only in these; all documents if left out"},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
	}
}`

// grepDocumentsInput are the arguments of grep_documents.
type grepDocumentsInput struct {
	Pattern    string   `json:"pattern"`
	DocIDs     []string `json:"doc_ids"`
	MaxResults int      `json:"max_results"`
}

// grepMatch is a line that matches, with the number of the passage that it stands in; 0 without one. Line is the line
// as it stands in the document's text.
type grepMatch struct {
	N        int    `json:"n"`
	DocID    string `json:"doc_id"`
	Filename string `json:"filename"`
	BlockID  string `json:"block_id"`
	Page     int    `json:"page,omitempty"`
	Section  string `json:"section,omitempty"`
	Line     string `json:"line"`
	ChunkID  string `json:"chunk_id,omitempty"`
}

// grepDocumentsOutput is what was found, newest documents first. More says that there were more matches than asked for;
// Literal, that the pattern was no RE2 expression and was looked for as it is.
type grepDocumentsOutput struct {
	Matches []grepMatch `json:"matches"`
	Total   int         `json:"total_found"`
	More    bool        `json:"more"`
	Literal bool        `json:"literal"`
	Notes   []string    `json:"notes"`
}

// ForModel leaves out the ids of passages.
func (o grepDocumentsOutput) ForModel() any {
	matches := make([]grepMatch, len(o.Matches))
	for i, m := range o.Matches {
		m.ChunkID = ""
		matches[i] = m
	}
	o.Matches = matches
	return o
}

// stepResult lists the matching lines as hits, under the pattern that was looked for.
func (o grepDocumentsOutput) stepResult(pattern string) chat.StepResult {
	r := chat.StepResult{Query: pattern, Found: o.Total, Notes: o.Notes}
	for _, m := range o.Matches {
		r.Hits = append(r.Hits, chat.Hit{
			N: m.N, DocumentID: m.DocID, ChunkID: m.ChunkID, BlockID: m.BlockID, Title: m.Filename, Page: m.Page,
			Section: m.Section,
			Snippet: m.Line,
		})
	}
	if len(r.Hits) == 0 && o.Literal {
		r.Facts = []chat.Fact{{Name: "literal", Value: "true"}}
	}
	return r
}

// grepDocuments is the tool that finds exact text: names, numbers and codes that a search by words or meaning misses.
// No other tool stands in for it, as none finds exact text. RE2 runs in time that is linear in the text, so no pattern
// of a model can hold up the server. Documents that were not found are told as notes when others were; without any the
// call is refused.
func grepDocuments() (*Tool, error) {
	return definition[grepDocumentsInput]{
		name: "grep_documents", action: chat.ActionSearching, capability: chat.CapabilitySearch, unique: true,
		modelView: viewOf[grepDocumentsOutput], retrieval: true, cached: true,
		doc: grepDocumentsDoc, schema: grepDocumentsSchema,
		aliases: map[string]string{"document_ids": "doc_ids", "query": "pattern"},
		label: chat.Label{
			Doing: "Looking for", Done: "Looked for", Noun: "search", Argument: "pattern", Form: chat.LabelCode,
		},
		describe: func(_ *Context, in grepDocumentsInput) string {
			return "Looking for the exact text: " + text.Shorten(in.Pattern, 100)
		},
		run: func(ctx context.Context, d *Context, in grepDocumentsInput) (Result, error) {
			// Documents that the model names narrow the search further; resolveAll has refused those out of the
			// question's reach.
			only, notes := d.DocumentIDs, []string(nil)
			if len(in.DocIDs) > 0 {
				docs, missing, err := d.resolveAll(ctx, in.DocIDs)
				if err != nil {
					return Result{}, fmt.Errorf("find documents: %w", err)
				}
				if len(docs) == 0 {
					return refusedResult("%s", strings.Join(missing, " "))
				}
				only, notes = documentIDs(docs), missing
			}
			found, err := d.Library.Grep(
				ctx, d.Scope, corpus.GrepRequest{Pattern: in.Pattern, Documents: only, Max: in.MaxResults},
			)
			if err != nil {
				return Result{}, fmt.Errorf("grep: %w", err)
			}
			passages, err := d.passagesOf(ctx, found.Matches)
			if err != nil {
				return Result{}, err
			}
			if found.Literal {
				notes = append(notes, "The pattern is not a valid RE2 expression and was taken literally.")
			}
			documents := map[string]bool{}
			for _, m := range found.Matches {
				documents[m.Document.ID] = true
			}
			return Result{
				Message: "Found " + english.Count(len(found.Matches), "match"),
				Summary: fmt.Sprintf(
					"%s in %s, %d looked through", english.Count(len(found.Matches), "match"),
					english.Count(len(documents), "document"), found.Documents,
				),
				Output: func(number Numberer) (any, chat.StepResult) {
					out := grepDocumentsOutput{
						Matches: []grepMatch{}, Total: len(found.Matches), More: found.More, Literal: found.Literal,
						Notes: append([]string{}, notes...),
					}
					for _, m := range found.Matches {
						match := grepMatch{
							DocID: m.Document.ID, Filename: m.Document.DisplayName(), BlockID: m.BlockID, Page: m.Page,
							Section: m.Section,
							Line:    m.Line, ChunkID: m.PassageID,
						}
						if p, ok := passages[m.PassageID]; ok {
							match.N = number(p, m.Document)
						}
						out.Matches = append(out.Matches, match)
					}
					return out, out.stepResult(in.Pattern)
				},
			}, nil
		},
	}.buildTool()
}

// passagesOf fetches the passages that matches stand in, by id. A passage that is gone by now is left out, and its
// match has no number.
func (d *Context) passagesOf(ctx context.Context, matches []corpus.Match) (map[string]corpus.Passage, error) {
	seen := map[string]bool{}
	var wanted []string
	for _, m := range matches {
		if m.PassageID != "" && !seen[m.PassageID] {
			seen[m.PassageID] = true
			wanted = append(wanted, m.PassageID)
		}
	}
	out := map[string]corpus.Passage{}
	if len(wanted) == 0 {
		return out, nil
	}
	passages, err := d.Library.Passages(ctx, d.Scope, wanted)
	if err != nil {
		return nil, fmt.Errorf("fetch passages: %w", err)
	}
	for _, p := range passages {
		out[p.ID] = p
	}
	return out, nil
}

//go:embed list_documents.md
var listDocumentsDoc string

// listDocumentsSchema counts pages from 1; 200 pages are 10,000 documents.
var listDocumentsSchema = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"filters": ` + filtersSchema + `,
		"page": {"type": "integer", "minimum": 1, "maximum": 200, "default": 1}
	}
}`

// libraryWords are those with which answers say what is in the library.
const libraryWords = "library collection hold contain have include available upload"

// listDocumentsInput are the arguments of list_documents. A page has listPage documents.
type listDocumentsInput struct {
	Filters map[string]any `json:"filters"`
	Page    int            `json:"page"`
}

// listDocuments is the tool that lists the library. It shows no passages, so an answer from it needs no footnotes. The
// store pages by cursor, so page n is reached by reading those before it, 200 pages of 50 at most. It is cached by the
// library's version, so a list is never older than the last change. A page beyond the last is refused with how many
// there are.
func listDocuments() (*Tool, error) {
	return definition[listDocumentsInput]{
		name: "list_documents", action: chat.ActionExploring, capability: chat.CapabilityList, retrieval: true,
		cached: true, withoutPassages: true,
		doc: listDocumentsDoc, schema: listDocumentsSchema,
		label:      chat.Label{Doing: "Listing documents", Done: "Listed documents", Noun: "listing"},
		vocabulary: func(listDocumentsInput) string { return libraryWords },
		describe: func(_ *Context, in listDocumentsInput) string {
			if len(in.Filters) == 0 {
				return "Listing the documents"
			}
			return "Listing the documents with " + describeFilters(in.Filters)
		},
		run: func(ctx context.Context, d *Context, in listDocumentsInput) (Result, error) {
			f, why, err := d.readFilter(ctx, in.Filters)
			if err != nil {
				return Result{}, err
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			var docs []corpus.Document
			for page := 1; page <= in.Page; page++ {
				var err error
				if docs, f.Cursor, err = d.Library.List(ctx, d.Scope, f); err != nil {
					return Result{}, fmt.Errorf("list documents: %w", err)
				}
				if f.Cursor == "" && page < in.Page {
					return refusedResult("There are %s only: ask for one of them.", english.Count(page, "page"))
				}
			}
			more := f.Cursor != ""
			notes, err := d.noteUnknownProperties(ctx, f, docs)
			if err != nil {
				return Result{}, err
			}
			summary := fmt.Sprintf("page %d", in.Page)
			if more {
				summary += ", there are more"
			}
			return Result{
				Message: "Listed " + english.Count(len(docs), "document"), Summary: summary,
				Output: func(Numberer) (any, chat.StepResult) {
					result := chat.StepResult{
						Query: filtersAsked(in.Filters), Found: len(docs), Hits: documentHits(docs), Notes: notes,
					}
					if len(docs) == 0 {
						result.Facts = []chat.Fact{{Name: "page", Value: strconv.Itoa(in.Page)}}
					}
					return map[string]any{
						"documents": listedDocuments(docs), "page": in.Page, "more": more, "notes": notes,
					}, result
				},
				SourceChanges: SourceChanges{Documents: docs},
			}, nil
		},
	}.buildTool()
}
