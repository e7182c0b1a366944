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

// grepDocumentsSchema limits the pattern to 500 characters and the matches to 100, so that the output fits a turn's
// context.
const grepDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["pattern"],
	"properties": {
		"pattern": {"type": "string", "minLength": 1, "maxLength": 500, "description": "RE2 expression or plain text"},
		"doc_ids": {"type": "array", "maxItems": 50, "items": {"type": "string", "minLength": 1, "maxLength": 500},
			"description": "Only in these; all documents if left out"},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}
	}
}`

// grepDocumentsInput holds the arguments of grep_documents.
type grepDocumentsInput struct {
	Pattern    string   `json:"pattern"`
	DocIDs     []string `json:"doc_ids"`
	MaxResults int      `json:"max_results"`
}

// grepMatch is a matching line of the document's text. N is the number of the passage that contains it, 0 if there
// is no such passage.
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

// grepDocumentsOutput holds the matches, newest documents first. More is true if there were more matches than the
// limit. Literal is true if the pattern was not a valid RE2 expression and was searched as plain text.
type grepDocumentsOutput struct {
	Matches []grepMatch `json:"matches"`
	Total   int         `json:"total_found"`
	More    bool        `json:"more"`
	Literal bool        `json:"literal"`
	Notes   []string    `json:"notes"`
}

// ForModel omits the passage ids, which saves tokens.
func (o grepDocumentsOutput) ForModel() any {
	matches := make([]grepMatch, len(o.Matches))
	for i, m := range o.Matches {
		m.ChunkID = ""
		matches[i] = m
	}
	o.Matches = matches
	return o
}

// stepResult returns the matching lines as hits, with the pattern as the query.
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

// grepDocuments returns the tool that finds exact text: names, numbers and codes that full-text and semantic search
// miss. No other tool replaces it. RE2 runs in time linear in the text, so no pattern can block the server.
// Documents that are not found become notes; if none is found, the call is refused.
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
			// Documents that the model names narrow the search further. resolveAll has refused those out of the
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

// passagesOf fetches the passages that contain the matches, by id. A passage that was deleted meanwhile is omitted,
// and its match has no number.
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

// listDocumentsSchema counts pages from 1. The limit of 200 pages is 10,000 documents.
var listDocumentsSchema = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"filters": ` + filtersSchema + `,
		"page": {"type": "integer", "minimum": 1, "maximum": 200, "default": 1}
	}
}`

// libraryWords are the words that answers use for the contents of the library.
const libraryWords = "library collection hold contain have include available upload"

// listDocumentsInput holds the arguments of list_documents. A page has listPage documents.
type listDocumentsInput struct {
	Filters map[string]any `json:"filters"`
	Page    int            `json:"page"`
}

// listDocuments returns the tool that lists the library. It shows no passages, so an answer from it needs no
// footnotes. The store paginates by cursor, so page n is reached by reading the pages before it, 200 pages of 50 at
// most. The cache key has the library's version, so a cached list is never stale. A page beyond the last is refused
// with the number of pages.
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
