package server

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/httpio"
	"footnote/views"
)

// documentsPage answers GET /documents for a browser; the page's script gets the list alone.
func (s *Server) documentsPage(c echo.Context) error {
	query, filter, err := documentsQuery(c)
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	counts, err := s.library.Count(ctx, scope.In(query.Namespace))
	if err != nil {
		return err
	}
	docs, next, err := s.library.List(ctx, scope.In(query.Namespace), filter)
	if err != nil {
		return err
	}
	list := views.DocumentsPage{
		Documents: docs, Counts: counts, More: next != "" && query.Limit < maxListed, Query: query, Samples: s.cfg.Samples != nil, Now: time.Now(),
	}
	if httpio.ByHTMX(c) {
		return httpio.Show(c, http.StatusOK, views.DocumentsList(list))
	}
	page, err := s.frame(c, "Documents")
	if err != nil {
		return err
	}
	page.Place, page.Deleted = "documents", ""
	page.Running = counts.Working > 0
	list.Deleted = deletedSession(c)
	return s.showPage(c, http.StatusOK, page, views.Documents(list), nil)
}

// maxListed is how many documents the page lists at most; a search finds the rest.
const maxListed = 1000

var workingStates = []corpus.State{corpus.StateQueued, corpus.StateParsing, corpus.StateIndexing}

// documentsQuery reads ?q=&kind=&state=&namespace=&sort=&limit= of the page. Beside the states of the API it knows "working".
func documentsQuery(c echo.Context) (views.DocumentsQuery, corpus.Filter, error) {
	q := views.DocumentsQuery{
		Text: strings.TrimSpace(httpio.CleanText(c.QueryParam("q"))), Kind: c.QueryParam("kind"), State: c.QueryParam("state"),
		Namespace: c.QueryParam("namespace"), Sort: c.QueryParam("sort"),
	}
	var err error
	if q.Limit, err = httpio.QueryInt(c, "limit", views.DocumentsStep, 1, maxListed); err != nil {
		return q, corpus.Filter{}, err
	}
	if err := httpio.CheckNamespace(q.Namespace); err != nil {
		return q, corpus.Filter{}, err
	}
	f := corpus.Filter{Text: q.Text, Sort: q.Sort, Limit: q.Limit}
	if !slices.Contains([]string{"", "newest", "oldest", "title"}, q.Sort) {
		return q, f, httpio.Invalid("sort must be newest, oldest or title.")
	}
	if q.Sort == "newest" {
		q.Sort = ""
	}
	switch {
	case q.State == "":
	case q.State == "working":
		f.States = workingStates
	case slices.Contains(states, corpus.State(q.State)):
		f.States = []corpus.State{corpus.State(q.State)}
	default:
		return q, f, httpio.Invalid("state must be ready, working, failed or cancelled.")
	}
	if q.Kind != "" {
		i := slices.IndexFunc(views.Kinds, func(k views.Kind) bool { return k.Name == q.Kind })
		if i < 0 {
			return q, f, httpio.Invalid("kind must be pdf, md, html or txt.")
		}
		f.MIME = views.Kinds[i].MIME
	}
	return q, f, nil
}

// changed answers a form about a document with the list as it was, and a program with the document.
func (s *Server) changed(c echo.Context) error {
	if httpio.WantsHTML(c) && !httpio.ByHTMX(c) {
		return c.Redirect(http.StatusSeeOther, backToList(c, ""))
	}
	return s.getDocument(c)
}

// backToList is the list that a form was on: forms carry its query in their address.
func backToList(c echo.Context, deleted string) string {
	query := c.QueryParams()
	for name := range query {
		if !slices.Contains([]string{"q", "kind", "state", "namespace", "sort", "limit"}, name) {
			query.Del(name)
		}
	}
	if deleted != "" {
		query.Set("deleted", deleted)
	}
	if len(query) == 0 {
		return "/documents"
	}
	return "/documents?" + query.Encode()
}

// deleteDocumentForm answers POST /documents/{id}/delete, for forms, which know no DELETE.
func (s *Server) deleteDocumentForm(c echo.Context) error {
	id := c.Param("id")
	if err := s.library.Delete(c.Request().Context(), httpio.Scope(c), id); err != nil {
		return err
	}
	if httpio.ByHTMX(c) {
		return c.NoContent(http.StatusNoContent)
	}
	if chat.CheckSessionID(id) != nil {
		id = ""
	}
	return c.Redirect(http.StatusSeeOther, backToList(c, id))
}
