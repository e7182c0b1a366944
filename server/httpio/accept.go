package httpio

import (
	"bytes"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

// WantsHTML reports whether a browser asks for a page: programs that take anything get JSON.
func WantsHTML(c echo.Context) bool { return acceptsType(c, echo.MIMETextHTML) }

// WantsStream reports whether the client asks for server-sent events. The page's script names them in all of its
// requests: there, only the stream's own address counts.
func WantsStream(c echo.Context) bool {
	if ByHTMX(c) && !strings.HasSuffix(c.Path(), "/stream") {
		return false
	}
	return acceptsType(c, "text/event-stream")
}

// acceptsType reports whether a request names a type in its Accept header. Wildcards don't count.
func acceptsType(c echo.Context, mime string) bool {
	for part := range strings.SplitSeq(c.Request().Header.Get(echo.HeaderAccept), ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), mime) {
			return true
		}
	}
	return false
}

// ByHTMX reports whether a script of the page asks, which wants a fragment or nothing at all.
func ByHTMX(c echo.Context) bool { return c.Request().Header.Get("HX-Request") == "true" }

// Show answers with HTML, once all of it was drawn.
func Show(c echo.Context, status int, component templ.Component) error {
	var b bytes.Buffer
	if err := component.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept, HX-Request")
	return c.HTMLBlob(status, b.Bytes())
}
