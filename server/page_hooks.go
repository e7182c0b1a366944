package server

import (
	"html"
	"net/http"

	"github.com/labstack/echo/v4"

	"footnote/chat"
)

// pageRoutes adds the routes of the page.
func (s *Server) pageRoutes(e *echo.Echo) {}

// askFragment answers a question that htmx sent: what the page shows until the stream takes over.
func (s *Server) askFragment(c echo.Context, run chat.Run) error {
	c.Response().Header().Set("HX-Redirect", "/c/"+run.SessionID)
	return c.NoContent(http.StatusOK)
}

// errorFragment answers an htmx request that failed.
func (s *Server) errorFragment(c echo.Context, p problem) error {
	return c.HTML(p.Status, `<p role="alert">`+html.EscapeString(p.Detail)+`</p>`)
}

// errorPage answers a browser's request that failed.
func (s *Server) errorPage(c echo.Context, p problem) error {
	return c.HTML(p.Status, "<!doctype html><html lang=en><title>"+html.EscapeString(p.Title)+`</title><h1>`+html.EscapeString(p.Title)+
		`</h1><p>`+html.EscapeString(p.Detail)+`</p><p><a href="/">Back to the first page</a></p>`)
}
