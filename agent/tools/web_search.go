package tools

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

// Neither value was measured. Each page costs a request, and its passages take tokens of the model's context.
const (
	pagesRead = 3 // number of pages that are fetched; further ones are only listed
	pageHits  = 4 // passages shown of each page, on average
)

// webPage is a page that was fetched and stored with the run; its passages are cited like those of documents.
type webPage struct {
	DocID     string         `json:"doc_id"`
	URL       string         `json:"url"`
	Title     string         `json:"title"`
	FetchedAt string         `json:"fetched_at"`
	Passages  []shownPassage `json:"passages"`
}

// unreadPage is a search result that was not fetched. Its snippet is the provider's and can't be cited.
type unreadPage struct {
	URL     string `json:"url"`
	Title   string `json:"title"`
	Snippet string `json:"snippet"`
	Why     string `json:"why"`
}

// webSearchOutput holds the provider's results.
//
// Pages were fetched and can be cited. Unread were not fetched, each with the reason. Total counts both.
type webSearchOutput struct {
	Query  string       `json:"query"`
	Pages  []webPage    `json:"pages"`
	Unread []unreadPage `json:"unread"`
	Total  int          `json:"total_results"`
}

// clipTo truncates passages and snippets and keeps every URL.
func (o webSearchOutput) clipTo(limit int) any {
	each := limit*6/10/max(1, len(o.Pages)) - 500
	o.Pages = changed(o.Pages, func(p *webPage) { p.Passages = cutPassages(p.Passages, each) })
	o.Unread = changed(o.Unread, func(p *unreadPage) { p.Snippet = CutText(p.Snippet, 150) })
	return o
}

// webSearch returns the row of the web search. Without a provider (nil) the tool is missing. No search of the library
// is a fallback for it. It is not cached, as the web has no version.
func webSearch(w *web.Web, approve bool) *Tool {
	t := &Tool{
		Name: "web_search", sets: "react", Action: chat.ActionSearching, Capability: chat.CapabilitySearch,
		Retrieval: true, Approve: approve, unique: true, web: true, forModel: without("chunk_id"),
		Label: label("Searching the web for", "Searched the web for", "web search", "query", chat.LabelQuote),
		params: []param{
			textParam("query!", 400, "What to search the web for"), // the maximum of Brave's search
			count("max_results", 10, 5, "How many pages to look at"),
		},
		run: func(ctx context.Context, d *Context, in args) (Result, error) {
			found, err := w.Search(ctx, in.Query, in.MaxResults)
			if err != nil {
				return Result{}, err
			}
			return d.readWeb(ctx, w, in.Query, found)
		},
	}
	if w == nil {
		t.missing = "no web search provider is set up"
	}
	return t
}

// readWeb fetches the first pagesRead pages concurrently, stores them with the run, and returns the passages that
// match the query. A page that can't be fetched is listed with the reason. Only a full disk, a failed search and the
// cancellation of ctx fail the call.
func (d *Context) readWeb(ctx context.Context, w *web.Web, query string, found []web.Found) (Result, error) {
	docs := make([]corpus.Document, len(found))
	why := make([]error, len(found))
	var reading sync.WaitGroup
	for i, f := range found[:min(pagesRead, len(found))] {
		reading.Go(func() { docs[i], why[i] = d.capturePage(ctx, w, f) })
	}
	reading.Wait()
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	read := []corpus.Document{}
	unread := []unreadPage{}
	for i, f := range found {
		switch {
		case docs[i].ID != "":
			read = append(read, docs[i])
		case why[i] != nil && chat.CodeOf(why[i]) == chat.CodeDiskFull:
			return Result{}, why[i]
		case why[i] != nil:
			unread = append(unread, unreadPage{f.URL, f.Title, f.Snippet, chat.MessageOf(why[i]).String()})
		default:
			unread = append(unread, unreadPage{f.URL, f.Title, f.Snippet, "Only the first pages are read."})
		}
	}
	passages, err := d.matchingPassages(ctx, query, read)
	if err != nil {
		return Result{}, err
	}
	return Result{
		Message: locale.Say("Found {1} on the web", locale.Count(len(found), "page")),
		Summary: locale.Say("{1} read, {2} found", locale.Count(len(read), "page"), len(found)),
		Output: func(number Numberer) (any, chat.StepResult) {
			out := webSearchOutput{Query: query, Pages: []webPage{}, Unread: unread, Total: len(found)}
			result := chat.StepResult{Query: query, Found: len(found)}
			for _, doc := range read {
				page := webPage{
					DocID: doc.ID, URL: doc.SourceURL(), Title: doc.DisplayTitle(),
					FetchedAt: doc.MetaText(corpus.MetaFetchedAt), Passages: []shownPassage{},
				}
				for _, p := range passages[doc.ID] {
					page.Passages = append(page.Passages, showPassage(number, p, doc))
				}
				out.Pages = append(out.Pages, page)
				hit := documentHit(doc)
				hit.SourceURL = page.URL
				result.Hits = append(result.Hits, withPassages(hit, doc, page.Passages)...)
				result.Opened = append(result.Opened, chat.OpenedPart{DocumentID: doc.ID, Part: "1"})
			}
			for _, page := range unread {
				result.Hits = append(result.Hits, chat.Hit{
					Title: page.Title, SourceURL: page.URL, Snippet: page.Snippet, Note: page.Why,
				})
			}
			return out, result
		},
		SourceChanges: SourceChanges{Documents: read},
	}, nil
}

// capturePage fetches a page and stores it as a document of the run's hidden namespace, so that it is cited and
// opened like any other. Its metadata has the URL and the time of the fetch.
func (d *Context) capturePage(ctx context.Context, w *web.Web, f web.Found) (corpus.Document, error) {
	page, err := w.Fetch(ctx, f.URL)
	if err != nil {
		return corpus.Document{}, err
	}
	return d.Library.Capture(ctx, corpus.Upload{
		User: d.Scope.User, Namespace: chat.WebNamespace(d.RunID), Filename: page.Filename,
		Body: bytes.NewReader(page.Body),
		Meta: map[string]any{corpus.MetaURL: page.URL, corpus.MetaFetchedAt: page.FetchedAt.Format(time.RFC3339)},
	})
}

// matchingPassages returns the passages of each page that match the query best, or its first passage if none match. The
// search is lexical, since captured pages have no embeddings (corpus.SemanticOff).
func (d *Context) matchingPassages(
	ctx context.Context, query string, pages []corpus.Document,
) (map[string][]corpus.Passage, error) {
	out := map[string][]corpus.Passage{}
	if len(pages) == 0 {
		return out, nil
	}
	kept := chat.Scope{User: d.Scope.User, Namespaces: []string{chat.WebNamespace(d.RunID)}}
	hits, err := d.Library.Search(ctx, kept, corpus.Query{
		Text: query, Limit: pageHits * len(pages), Mode: corpus.ModeLexical, Documents: documentIDs(pages),
	})
	if err != nil {
		return nil, fmt.Errorf("search captured pages: %w", err)
	}
	for _, hit := range hits.Results {
		out[hit.Document.ID] = append(out[hit.Document.ID], hit.Passage)
	}
	for _, doc := range pages {
		if len(out[doc.ID]) == 0 {
			r, err := d.Library.Read(ctx, kept, corpus.ReadRequest{Document: doc.ID})
			if err != nil {
				return nil, fmt.Errorf("read captured page: %w", err)
			}
			out[doc.ID] = r.Passages[:min(1, len(r.Passages))]
		}
	}
	return out, nil
}
