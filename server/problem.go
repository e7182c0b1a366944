package server

import (
	"strings"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/relay"
	"github.com/footnote/footnote/text/locale"
)

// sendProblem encodes a failed request's response in the form its client reads: OpenAI's under /v1; the plain
// sentence for clients of the AI SDK and AG-UI, which show it; a page for browsers; else problem+json. A program
// that requests a missing address gets the existing routes.
//
// The order of the cases matters: a protocol's path precedes the Accept header, and the page's script gets a
// fragment where a browser gets a page. It is called at most once per failed request, after the status and its
// headers are set and before anything is sent.
func (s *Server) sendProblem(c httpio.Context, p httpio.Problem) error {
	path, page := c.Request().URL.Path, httpio.WantsHTML(c)
	openAI, bare := isBelow(path, "/v1"), isBelow(path, "/ui") || path == "/ag-ui"
	if isLost(c, p) {
		page = page && !s.directory.isForPrograms(c)
		if openAI || bare || !page && !httpio.ByHTMX(c) {
			s.directory.suggestRoutes(c, &p)
		}
	}
	switch {
	case openAI:
		return c.JSON(p.Status, relay.NewV1Failed(p.Status, p.Code, p.Detail.String()))
	case bare:
		return c.String(p.Status, p.Detail.String())
	case httpio.ByHTMX(c) && httpio.WantsStream(c): // its body would be swapped into the page
		return c.NoContent(p.Status)
	case httpio.ByHTMX(c):
		return s.page.ErrorFragment(c, p)
	case page && s.guard.SignedOut(c):
		return s.page.SignInFirst(c, p)
	case page:
		return s.page.ErrorPage(c, p)
	}
	// c.JSON keeps an existing content type: this one is that of RFC 9457.
	c.Response().Header().Set("Content-Type", "application/problem+json")
	p.Detail = locale.Message(httpio.ResponseText(c, p.Detail))
	return c.JSON(p.Status, p)
}

// isBelow reports whether a path is a prefix or below it.
func isBelow(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '/')
}
