package httpio

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// WantsHTML reports whether a browser asks for a page: programs that take anything get JSON, and so does one that
// names both and likes JSON no less.
//
// It follows the weights of RFC 9110, section 12.4.2, except that wildcards name nothing: curl sends */* and is a
// program.
func WantsHTML(c Context) bool {
	html, htmlAt := likes(c, TypeHTML)
	json, jsonAt := likes(c, TypeJSON)
	return html > json || html > 0 && html == json && htmlAt < jsonAt
}

// WantsStream reports whether the client asks for server-sent events. The page's script names them in all of its
// requests: there, only the stream's own address counts.
func WantsStream(c Context) bool {
	if ByHTMX(c) && !strings.HasSuffix(c.Path(), "/stream") {
		return false
	}
	stream, _ := likes(c, "text/event-stream")
	return stream > 0
}

// likes is how much a request likes a type that its Accept header names, from 0 to 1, and which one in the header it
// is. Wildcards don't count.
func likes(c Context, mime string) (quality float64, place int) {
	for part := range strings.SplitSeq(c.Request().Header.Get("Accept"), ",") {
		name, params, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), mime) {
			return qualityOf(params), place
		}
		place++
	}
	return 0, place
}

// qualityOf reads the parameter q of a type in an Accept header; without one that can be read it is 1.
func qualityOf(params string) float64 {
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(param, "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if strings.EqualFold(strings.TrimSpace(name), "q") && err == nil && q >= 0 && q <= 1 {
			return q
		}
	}
	return 1
}

// ByHTMX reports whether a script of the page asks, which wants a fragment or nothing at all.
func ByHTMX(c Context) bool { return c.Request().Header.Get("HX-Request") == "true" }

// Show answers with HTML, once all of it was drawn.
//
// A component that fails is an error before anything is sent, so a page is never half. It is not stored, since it is
// one user's, and it varies with what decides its form and its language.
func Show(c Context, status int, component templ.Component) error {
	var b bytes.Buffer
	if err := component.Render(c.Request().Context(), &b); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept, HX-Request, Accept-Language, Cookie")
	return c.HTMLBlob(status, b.Bytes())
}
