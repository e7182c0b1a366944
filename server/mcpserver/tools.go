package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/runlog"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
)

type (
	// Query is the input of the tool search.
	Query struct {
		Query       string   `json:"query" jsonschema:"the search query: a question or keywords"`
		TopK        *int     `json:"top_k,omitempty" jsonschema:"number of passages, 1 to 50; default 5"`
		Namespace   string   `json:"namespace,omitempty" jsonschema:"only documents in this namespace"`
		DocumentIDs []string `json:"document_ids,omitempty" jsonschema:"only these documents"`
	}
	// Found is the output of search.
	Found struct {
		Results []Hit `json:"results"`
	}
	// Hit is one passage: first the fields for connectors of chat programs, then those of POST /search.
	Hit struct {
		ID    string `json:"id" jsonschema:"the id of the passage, for fetch"`
		Title string `json:"title"`
		URL   string `json:"url" jsonschema:"URL of the document at the passage"`
		find.SearchResult
	}

	// Reading is the input of the tool read.
	Reading struct {
		Document   string `json:"document,omitempty" jsonschema:"id, title or file name"`
		DocumentID string `json:"document_id,omitempty" jsonschema:"instead of document: the id from search or list_documents"`
		Part       int    `json:"part,omitempty" jsonschema:"the part, from 1; default 1"`
		Focus      string `json:"focus,omitempty" jsonschema:"keywords: parts of the document about them come first"`
		Namespace  string `json:"namespace,omitempty" jsonschema:"the namespace of the document"`
	}
	// Part is a part of a document.
	Part struct {
		DocumentID string `json:"document_id"`
		Title      string `json:"title"`
		Part       int    `json:"part"`
		Parts      int    `json:"parts"`
		URL        string `json:"url"`
		Text       string `json:"text"`
	}

	// Filter is the input of the tool list_documents.
	Filter struct {
		Query     string `json:"query,omitempty" jsonschema:"part of a title or file name"`
		Namespace string `json:"namespace,omitempty" jsonschema:"only documents in this namespace"`
		Limit     int    `json:"limit,omitempty" jsonschema:"maximum number of documents, 1 to 200; default 50"`
		Cursor    string `json:"cursor,omitempty" jsonschema:"next of the previous result, for the next page"`
	}
	// Document is an entry of the list.
	Document struct {
		ID    string       `json:"id"`
		Title string       `json:"title"`
		File  string       `json:"filename"`
		Pages int          `json:"pages,omitempty"`
		State corpus.State `json:"state"`
		URL   string       `json:"url"`
	}
	// Documents is the output of list_documents.
	Documents struct {
		Documents []Document `json:"documents"`
		Next      string     `json:"next,omitempty"`
	}
)

// searchDocuments is the tool search: passages with their places. Its text is its data as JSON, which chat programs
// with a search of their own expect.
//
// It counts against the user's searches and fails as POST /search does.
func (h *Handlers) searchDocuments(
	ctx context.Context, who caller, _ *sdk.CallToolRequest, in Query,
) (string, Found, error) {
	query := find.SearchQuery{Query: in.Query, TopK: in.TopK, Namespace: in.Namespace}
	if len(in.DocumentIDs) > 0 {
		query.Filters = &find.SearchFilters{DocumentIDs: in.DocumentIDs}
	}
	q, err := h.Searcher.Query(query)
	if err != nil {
		return "", Found{}, err
	}
	if err := h.Searcher.Spend(ctx, who.scope, query); err != nil {
		return "", Found{}, err
	}
	if err := h.Library.CheckNamed(ctx, who.scope, in.Namespace, q.Documents); err != nil {
		return "", Found{}, err
	}
	found, err := h.Library.Search(ctx, who.scope.In(in.Namespace), q)
	if err != nil {
		return "", Found{}, err
	}
	out := Found{Results: []Hit{}}
	for _, r := range find.PassagesOf(found.Results) {
		r.Metadata.URL = runlog.Absolute(who.origin, r.Metadata.URL)
		out.Results = append(out.Results, Hit{
			ID: r.Metadata.ChunkID, Title: runlog.OneLine(r.Metadata.Title), URL: r.Metadata.URL, SearchResult: r,
		})
	}
	return "", out, nil
}

// readDocument is the tool read: a part of a document.
//
// document_id takes precedence over document. Another user's document is not found.
func (h *Handlers) readDocument(
	ctx context.Context, who caller, _ *sdk.CallToolRequest, in Reading,
) (string, Part, error) {
	name := cmp.Or(in.DocumentID, in.Document)
	if corpus.Blank(name) || in.Part < 0 {
		return "", Part{}, httpio.Invalid(
			"Specify a document by document_id, or as document by its id, title or file name, and a part from 1.",
		)
	}
	if err := chat.CheckNamespace(in.Namespace); err != nil {
		return "", Part{}, err
	}
	got, err := h.Library.Read(
		ctx, who.scope.In(in.Namespace), corpus.ReadRequest{Document: name, Focus: in.Focus, Part: in.Part},
	)
	if err != nil {
		return "", Part{}, err
	}
	out := Part{
		DocumentID: got.Document.ID, Title: got.Document.Title, Part: got.Part, Parts: got.Parts,
		URL:  runlog.Absolute(who.origin, chat.Link{Document: got.Document.ID}.String()),
		Text: textOf(got.Passages),
	}
	return fmt.Sprintf(
		"%s, part %d of %d (%s)\n\n%s", runlog.OneLine(out.Title), out.Part, out.Parts, out.URL, out.Text,
	), out, nil
}

// listDocuments is the tool list_documents.
//
// The default limit is 50 documents. Its text has a line per document; the data also has the links.
func (h *Handlers) listDocuments(
	ctx context.Context, who caller, _ *sdk.CallToolRequest, in Filter,
) (string, Documents, error) {
	if in.Limit == 0 {
		in.Limit = 50
	}
	if in.Limit < 1 || in.Limit > 200 {
		return "", Documents{}, httpio.Invalid("limit must be between 1 and 200.")
	}
	if err := chat.CheckNamespace(in.Namespace); err != nil {
		return "", Documents{}, err
	}
	docs, next, err := h.Library.List(
		ctx, who.scope.In(in.Namespace), corpus.Filter{Text: in.Query, Limit: in.Limit, Cursor: in.Cursor},
	)
	if err != nil {
		return "", Documents{}, err
	}
	out := Documents{Documents: []Document{}, Next: next}
	var b strings.Builder
	for _, d := range docs {
		doc := Document{
			ID: d.ID, Title: d.Title, File: d.Filename, Pages: d.Pages, State: d.State,
			URL: runlog.Absolute(who.origin, chat.Link{Document: d.ID}.String()),
		}
		out.Documents = append(out.Documents, doc)
		fmt.Fprintf(&b, "%s: %s (%s, %s)\n", doc.ID, runlog.OneLine(doc.Title), runlog.OneLine(doc.File), doc.State)
	}
	if next != "" {
		b.WriteString("There are more documents. Call again with the cursor " + next)
	}
	if len(docs) == 0 {
		b.WriteString("There are no documents.")
	}
	return strings.TrimSpace(b.String()), out, nil
}
