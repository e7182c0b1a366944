package server

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/httpio"
	"footnote/views"
)

// foundShown is how many questions, and how many documents, a search of the page lists.
const foundShown = 8

// findPage answers GET /find: questions and documents by name, as a page or as the palette's list.
func (s *Server) findPage(c echo.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	f := views.Found{Query: draft(c)}
	var err error
	if f.Sessions, _, err = s.store.Sessions(ctx, scope, chat.SessionQuery{Text: f.Query, Limit: foundShown}); err != nil {
		return err
	}
	if f.Documents, _, err = s.library.List(ctx, scope, corpus.Filter{Text: f.Query, Limit: foundShown}); err != nil {
		return err
	}
	if httpio.ByHTMX(c) {
		return httpio.Show(c, http.StatusOK, views.FoundList(f))
	}
	page, err := s.frame(c, "Search")
	if err != nil {
		return err
	}
	return s.showPage(c, http.StatusOK, page, views.Find(f), nil)
}
