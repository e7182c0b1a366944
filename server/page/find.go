package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Maximum numbers of conversations, documents and passages in a search.
const (
	// Maximum number of results.
	foundShown = 6  // in the palette
	foundPaged = 30 // on its page
)

// Find handles GET /find: conversations and documents by name, and passages by words, as a page or as the palette's
// list.
//
// The query is ?q=, truncated like a draft of a question. The page's script gets a fragment with fewer results,
// since it sends a request per keystroke.
func (h *Handlers) Find(c httpio.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	limit := foundPaged
	if httpio.ByHTMX(c) {
		limit = foundShown
	}
	f, err := h.findAll(ctx, scope, draftQuestion(c), limit)
	if err != nil {
		return err
	}
	if httpio.ByHTMX(c) {
		return httpio.Show(c, http.StatusOK, views.FoundList(f))
	}
	f.More = false // the page is the last one
	return h.show(c, http.StatusOK, views.Page{Title: views.SearchTitle.In(ctx)}, views.Find(f))
}

// findAll searches everything in a scope. An empty text lists the newest conversations and documents.
//
// It searches names first, which is not limited, and then passages.
func (h *Handlers) findAll(ctx context.Context, scope chat.Scope, text string, limit int) (views.Found, error) {
	f := views.Found{Query: text, Now: time.Now()}
	sessions, moreSessions, err := h.Store.Sessions(ctx, scope, chat.SessionQuery{Text: text, Limit: limit})
	if err != nil {
		return f, err
	}
	documents, moreDocuments, err := h.Library.List(ctx, scope, corpus.Filter{Text: text, Limit: limit})
	if err != nil {
		return f, err
	}
	f.Sessions, f.Documents = sessions, documents
	if f.AllSessions, err = h.Store.CountSessions(ctx, scope); err != nil {
		return f, err
	}
	counts, err := h.Library.Count(ctx, scope)
	if err != nil {
		return f, err
	}
	// Unprocessed documents are found by name only, which the list states.
	f.AllDocuments, f.Unread = counts.Documents, counts.Documents-counts.Ready
	if err := h.findPassages(ctx, scope, &f, limit); err != nil {
		return f, err
	}
	f.More = f.Query != "" && (moreSessions != "" || moreDocuments != "" || len(f.Passages) == limit)
	return f, nil
}

// findPassages adds passages that match the query's words. It does not search by meaning, which may cost its user
// money for each letter typed. It counts as a search; over that limit it adds a note to the results by name.
func (h *Handlers) findPassages(ctx context.Context, scope chat.Scope, f *views.Found, limit int) error {
	if f.AllDocuments == 0 || corpus.Blank(f.Query) {
		return nil
	}
	if err := h.Store.Spend(ctx, scope.User, chat.ResourceSearches, 1); err != nil {
		if _, over := errors.AsType[*chat.OverLimit](err); over {
			f.Notes = []string{chat.MessageOf(err).String()}
			return nil
		}
		return fmt.Errorf("count the search: %w", err)
	}
	found, err := h.Library.Search(ctx, scope, corpus.Query{
		Text: f.Query, Limit: limit, Mode: corpus.ModeLexical, Typing: true, Places: true,
	})
	f.Passages, f.Notes = found.Results, found.Notes
	return err
}

// Docs handles GET /docs, the page of the API, for users: its frame has their conversations.
func (h *Handlers) Docs(c httpio.Context, d views.Docs) error {
	page, err := h.pageFrame(c, views.Page{Title: "API"})
	if err != nil {
		return err
	}
	if h.Keys != nil {
		if d.Keys, err = h.Keys.Needed(); err != nil {
			return fmt.Errorf("read the keys: %w", err)
		}
	}
	return httpio.Show(c, http.StatusOK, views.Layout(page, views.APIDocs(page, d), nil))
}
