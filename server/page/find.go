package page

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/httpio"
	"footnote/views"
)

// foundShown is how many questions, and how many documents, a search of the page lists.
const foundShown = 8

// Find answers GET /find: questions and documents by name, as a page or as the palette's list.
func (h *Handlers) Find(c echo.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	f := views.Found{Query: draftQuestion(c)}
	var err error
	if f.Sessions, _, err = h.Store.Sessions(
		ctx, scope, chat.SessionQuery{Text: f.Query, Limit: foundShown},
	); err != nil {
		return err
	}
	if f.Documents, _, err = h.Library.List(ctx, scope, corpus.Filter{Text: f.Query, Limit: foundShown}); err != nil {
		return err
	}
	if httpio.ByHTMX(c) {
		return httpio.Show(c, http.StatusOK, views.FoundList(f))
	}
	page, err := h.pageFrame(c, "Search")
	if err != nil {
		return err
	}
	return h.showPage(c, http.StatusOK, page, views.Find(f), nil)
}

// Docs shows a description of the API as a page. describe makes it for the address where the examples are sent; keys
// says that they need one.
func (h *Handlers) Docs(c echo.Context, describe func(base string, keys bool) (views.Docs, error)) error {
	page, err := h.pageFrame(c, "API")
	if err != nil {
		return err
	}
	keys := false
	if h.Keys != nil {
		if keys, err = h.Keys.Needed(); err != nil {
			return fmt.Errorf("read the keys: %w", err)
		}
	}
	d, err := describe(httpio.Origin(c), keys)
	if err != nil {
		return err
	}
	return h.showPage(c, http.StatusOK, page, views.APIDocs(d), nil)
}
