package server

import (
	"strings"

	"github.com/labstack/echo/v4"

	"footnote/server/httpio"
	v1 "footnote/server/v1"
)

// sendProblem answers a request that failed in the form its client reads: OpenAI's under /v1, the bare sentence for
// clients of the AI SDK and AG-UI, which show it as it is, a page for browsers, else problem+json.
func (s *Server) sendProblem(c echo.Context, p httpio.Problem) error {
	htmx := httpio.ByHTMX(c)
	switch {
	case strings.HasPrefix(c.Request().URL.Path, "/v1/"):
		return c.JSON(p.Status, v1.NewFailed(p.Status, p.Code, p.Detail))
	case strings.HasPrefix(c.Request().URL.Path, "/ui/"), c.Request().URL.Path == "/ag-ui":
		return c.String(p.Status, p.Detail)
	case htmx && httpio.WantsStream(c): // its body would be swapped into the page
		return c.NoContent(p.Status)
	case htmx:
		return s.page.ErrorFragment(c, p)
	case httpio.WantsHTML(c) && s.guard.SignedOut(c):
		return s.page.SignInFirst(c, p)
	case httpio.WantsHTML(c):
		return s.page.ErrorPage(c, p)
	}
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	return c.JSON(p.Status, p)
}
