// Package httpio handles the parts of requests and responses that all handlers of the server share. It parses path
// parameters and bodies strictly (bodies, query, strict) and encodes all errors in one form (error, failure). It
// writes server-sent events and counts open streams (sse, streams). Its middleware authorises, paces, measures and
// logs requests (guard, key, pace, observe). It depends on the vocabulary of package chat and on no store.
//
// Requests pass through it to a handler of another package, and their responses pass back. It must not depend on the
// purpose of a route: handlers import it, and it imports none of them. It is also the only package that imports Echo
// (router).
package httpio

import (
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/lazy"
)

// Scope returns the scope of a request's user. Without a user it is empty and matches no rows.
func Scope(c Context) chat.Scope {
	user, _ := c.Get(UserField).(string)
	return chat.Scope{User: user}
}

// RunIDForm validates run ids: a UUID in lower case.
var RunIDForm = lazy.Regexp(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// QueryFlag parses a query parameter as true or false; absent means false.
func QueryFlag(c Context, name string) (bool, error) {
	if !c.QueryParams().Has(name) {
		return false, nil
	}
	switch c.QueryParam(name) {
	case "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, Invalid("{1} must be true or false.", name)
}

// QueryInt parses a query parameter as an integer; absent means value.
//
// low and high are inclusive. An invalid or out-of-range value fails with 400 and the range.
func QueryInt(c Context, name string, value, low, high int) (int, error) {
	if !c.QueryParams().Has(name) {
		return value, nil
	}
	n, err := strconv.Atoi(c.QueryParam(name))
	if err != nil || n < low || n > high {
		return 0, Invalid("{1} must be a whole number from {2} to {3}.", name, low, english.Digits(high))
	}
	return n, nil
}

// LastSeen returns the event number to resume after: Last-Event-ID, which a reconnecting reader sends, else ?after=,
// else 0.
//
// Last-Event-ID takes precedence: a reconnecting browser sends it with its original address.
func LastSeen(r *http.Request) (int64, error) {
	var after int64
	for _, text := range []string{r.URL.Query().Get("after"), r.Header.Get("Last-Event-ID")} {
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return 0, Invalid(
				"Last-Event-ID or ?after= must be an event number, 0 or more.",
			)
		}
		after = n
	}
	return after, nil
}

// IdempotencyKey returns the idempotency key of a request: from the header Idempotency-Key or the form field, empty
// without both.
func IdempotencyKey(c Context) string {
	key := c.Request().Header.Get("Idempotency-Key")
	if key == "" && c.Request().PostForm != nil {
		key = c.Request().PostForm.Get("idempotency_key")
	}
	return key
}

// CleanText removes NUL characters, which no store keeps, from a query. Bodies with them are refused.
func CleanText(text string) string {
	return strings.ReplaceAll(text, "\x00", "")
}

// FormText returns a form field with the browsers' CRLF normalised to LF.
func FormText(form url.Values, name string) string {
	return strings.ReplaceAll(form.Get(name), "\r\n", "\n")
}

// Origin returns the server's origin as seen by the client, for absolute links.
func Origin(c Context) string { return c.Scheme() + "://" + c.Request().Host }

// SendsJSON reports whether a request's content type is JSON.
func SendsJSON(c Context) bool {
	kind := MediaType(c)
	return kind == TypeJSON || strings.HasSuffix(kind, "+json")
}

// MediaType returns the media type of the body without its parameters, empty if it is missing or invalid.
func MediaType(c Context) string {
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
