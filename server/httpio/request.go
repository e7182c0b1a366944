// Package httpio holds what every room of the server does with requests and responses: it reads what requests name
// and their bodies, strictly (bodies, query, strict), says what failed in one form (error, failure), writes
// server-sent events and counts the streams that are open (sse, streams), and passes requests through the middleware
// that guards, paces, measures and logs them (guard, key, pace, observe). It knows the vocabulary of package chat and
// no store.
//
// What comes in is a request on its way to a handler of another room, and what goes out is its response on the way
// back. It must never know what a route is for: rooms import it, and it imports none of them. It is also the only
// package that imports Echo (router).
package httpio

import (
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

// Scope is on whose behalf a request reads and writes. Without a user it is nobody's, who has nothing.
func Scope(c Context) chat.Scope {
	user, _ := c.Get(UserField).(string)
	return chat.Scope{User: user}
}

// RunIDForm is the form of the ids of runs: a UUID in lower case.
var RunIDForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// RunID is the run a request names. What can't be an id is answered like one that is not there.
//
// 404 and not 400: whoever follows an address that was cut off learns the same as with one that is gone.
func RunID(c Context) (string, error) {
	id := c.Param("id")
	if !RunIDForm.MatchString(id) {
		return "", NotFound("There is no such run. It may have been deleted with its conversation.")
	}
	return id, nil
}

// SessionID is the session a request names.
func SessionID(c Context) (string, error) {
	id := c.Param("id")
	return id, chat.CheckSessionID(id)
}

// QueryFlag reads true or false from the address; without it, it is false.
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
	return false, Invalid(name + " must be true or false.")
}

// QueryInt reads a whole number from the address; without it, value is what it is.
//
// low and high are part of the range. A value outside of it, or none that is a number, is answered with 400 and the
// range.
func QueryInt(c Context, name string, value, low, high int) (int, error) {
	if !c.QueryParams().Has(name) {
		return value, nil
	}
	n, err := strconv.Atoi(c.QueryParam(name))
	if err != nil || n < low || n > high {
		return 0, Invalid(name + " must be a whole number from " + strconv.Itoa(low) + " to " + english.Digits(high) +
			".")
	}
	return n, nil
}

// LastSeen is the number after which a reader goes on: Last-Event-ID, which a reconnecting reader sends, else
// ?after=, else 0.
//
// Last-Event-ID comes last and so wins: a browser that reconnects sends it with the address that it first had.
func LastSeen(r *http.Request) (int64, error) {
	var after int64
	for _, text := range []string{r.URL.Query().Get("after"), r.Header.Get("Last-Event-ID")} {
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return 0, Invalid(
				"The position to go on after must be the number of an event, 0 or more. Send it as Last-Event-ID or " +
					"?after=.",
			)
		}
		after = n
	}
	return after, nil
}

// IdempotencyKey returns the key under which a request is done only once: that of the header Idempotency-Key or of the
// form's field, empty without both.
func IdempotencyKey(c Context) string {
	key := c.Request().Header.Get("Idempotency-Key")
	if key == "" && c.Request().PostForm != nil {
		key = c.Request().PostForm.Get("idempotency_key")
	}
	return key
}

// CleanText drops NUL characters, which no store keeps, from an address. Bodies with them are refused.
func CleanText(text string) string {
	return strings.ReplaceAll(text, "\x00", "")
}

// FormText undoes the CRLF line ends that browsers make.
func FormText(form url.Values, name string) string {
	return strings.ReplaceAll(form.Get(name), "\r\n", "\n")
}

// Origin is where the client reached this server, for links that leave the page.
func Origin(c Context) string { return c.Scheme() + "://" + c.Request().Host }

// SendsJSON reports whether a request says that its body is JSON.
func SendsJSON(c Context) bool {
	kind := MediaType(c)
	return kind == TypeJSON || strings.HasSuffix(kind, "+json")
}

// MediaType returns the type of the body without its parameters, empty when it is none.
func MediaType(c Context) string {
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}
