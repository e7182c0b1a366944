package server

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/chat"
)

// codeMethod is for a known address asked in a way it does not answer. Only HTTP knows it.
const codeMethod chat.Code = "method_not_allowed"

// statuses is the one place where a code becomes an HTTP status. What is not in it is a 500.
var statuses = map[chat.Code]int{
	chat.CodeInvalid:      http.StatusBadRequest,
	chat.CodeUnauthorized: http.StatusUnauthorized,
	chat.CodeForbidden:    http.StatusForbidden,
	chat.CodeNotFound:     http.StatusNotFound,
	codeMethod:            http.StatusMethodNotAllowed,
	chat.CodeConflict:     http.StatusConflict,
	chat.CodeTurnLimit:    http.StatusConflict,
	chat.CodeTooLarge:     http.StatusRequestEntityTooLarge,
	chat.CodeUnsupported:  http.StatusUnsupportedMediaType,
	chat.CodeGuardrail:    http.StatusUnprocessableEntity,
	chat.CodeKeyReused:    http.StatusUnprocessableEntity,
	chat.CodeTooMany:      http.StatusTooManyRequests,
	chat.CodeDiskFull:     http.StatusInsufficientStorage,
	chat.CodeUnavailable:  http.StatusServiceUnavailable,
}

// problem is what a client reads of a failure (RFC 9457): nothing in it comes from inside the server.
type problem struct {
	Type      string    `json:"type"`
	Title     string    `json:"title"`
	Status    int       `json:"status"`
	Code      chat.Code `json:"code"`
	Detail    string    `json:"detail"` // a sentence for people
	RequestID string    `json:"request_id"`
	RunID     string    `json:"run_id,omitempty"` // of the run that failed
	SessionID string    `json:"session_id,omitempty"`

	Limit   chat.LimitName `json:"limit,omitempty"`    // that is reached
	RetryAt *time.Time     `json:"retry_at,omitempty"` // when the limit has room again, if that is known
}

// runError is a failure after a run was begun, which can be looked up.
type runError struct {
	error
	run chat.Run
}

// Unwrap returns the failure itself.
func (e runError) Unwrap() error { return e.error }

// ofRun ties a failure to its run.
func ofRun(run chat.Run, err error) error {
	if err == nil {
		return nil
	}
	return runError{err, run}
}

func invalid(message string) error {
	return &chat.Error{Code: chat.CodeInvalid, Message: message}
}

func notFound(message string) error {
	return &chat.Error{Code: chat.CodeNotFound, Message: message}
}

// asError finds what may be shown of err.
func asError(err error) *chat.Error {
	if e, ok := errors.AsType[*chat.Error](err); ok {
		return e
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &chat.Error{Code: chat.CodeTooLarge, Message: "The request is too large for this address. Send less at once.", Err: err}
	}
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		return fromEcho(he)
	}
	if errors.Is(err, context.Canceled) {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "The request ended before it was answered. Try again.", Err: err}
	}
	return &chat.Error{Code: chat.CodeInternal, Message: chat.MessageOf(err), Err: err}
}

func fromEcho(he *echo.HTTPError) *chat.Error {
	e := &chat.Error{Err: he}
	switch he.Code {
	case http.StatusNotFound:
		e.Code, e.Message = chat.CodeNotFound, "There is nothing at this address. Check it, or start from the first page."
	case http.StatusMethodNotAllowed:
		e.Code, e.Message = codeMethod, "This address does not answer that method. The Allow header names those it does."
	case http.StatusRequestEntityTooLarge:
		e.Code, e.Message = chat.CodeTooLarge, "The request is too large for this address. Send less at once."
	case http.StatusUnsupportedMediaType:
		e.Code, e.Message = chat.CodeUnsupported, "This kind of body is not understood here. Send JSON with the header Content-Type: application/json."
	case http.StatusUnauthorized:
		e.Code, e.Message = chat.CodeUnauthorized, "A valid key is needed. Send it in the header X-API-Key."
	case http.StatusForbidden:
		e.Code, e.Message = chat.CodeForbidden, "This request is not allowed."
	case http.StatusTooManyRequests:
		e.Code, e.Message = chat.CodeTooMany, "Too many requests at once. Wait a moment and try again."
	case http.StatusServiceUnavailable:
		e.Code, e.Message = chat.CodeUnavailable, "The server can't answer now. Try again in a moment."
	default:
		e.Code, e.Message = chat.CodeInvalid, "The request could not be read. Check its form and try again."
		if he.Code >= http.StatusInternalServerError {
			e.Code, e.Message = chat.CodeInternal, chat.MessageOf(he)
		}
	}
	return e
}

// fail is Echo's error handler: it logs err once and answers in the form the client reads.
func (s *Server) fail(err error, c echo.Context) {
	e := asError(err)
	status, ok := statuses[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	s.logFailure(c, status, err)
	res := c.Response()
	if res.Committed {
		return
	}
	p := problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code, Detail: chat.MessageFor(s.scope(c).User, e),
		RequestID: res.Header().Get(echo.HeaderXRequestID),
	}
	if failed, ok := errors.AsType[runError](err); ok {
		p.RunID, p.SessionID = failed.run.ID, failed.run.SessionID
		res.Header().Set("Location", "/agent/runs/"+p.RunID)
	}
	if over, ok := errors.AsType[*chat.OverLimit](err); ok {
		p.Limit = over.Limit
		if !over.Until.IsZero() {
			p.RetryAt = &over.Until
		}
	}
	switch status {
	case http.StatusRequestEntityTooLarge:
		discardBody(c) // so that a client which is still sending reads the answer
	case http.StatusUnauthorized:
		res.Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="Footnote"`)
	case http.StatusTooManyRequests:
		discardBody(c)
		res.Header().Set("Retry-After", retryAfter(err, "1"))
	case http.StatusInsufficientStorage:
		discardBody(c)
		res.Header().Set("Retry-After", retryAfter(err, "5"))
	case http.StatusServiceUnavailable:
		res.Header().Set("Retry-After", retryAfter(err, "5"))
	}
	res.Header().Set("Cache-Control", "no-store")
	if err := s.sendProblem(c, p); err != nil {
		s.log.LogAttrs(c.Request().Context(), slog.LevelDebug, "error not delivered", slog.Any("err", err))
	}
}

// retryAfter is how many seconds to wait: what a limit says, else the usual.
func retryAfter(err error, usual string) string {
	over, ok := errors.AsType[*chat.OverLimit](err)
	if !ok {
		return usual
	}
	return strconv.Itoa(waitSeconds(over))
}

// waitSeconds is how many whole seconds to wait for a limit.
func waitSeconds(over *chat.OverLimit) int { return max(1, int(math.Ceil(over.Wait.Seconds()))) }

func (s *Server) sendProblem(c echo.Context, p problem) error {
	htmx := byHTMX(c)
	switch {
	case strings.HasPrefix(c.Request().URL.Path, "/v1/"):
		return c.JSON(p.Status, newV1Failure(p.Status, p.Code, p.Detail))
	case htmx && wantsStream(c): // its body would be swapped into the page
		return c.NoContent(p.Status)
	case htmx:
		return s.errorFragment(c, p)
	case wantsHTML(c) && s.signedOut(c):
		return s.signInFirst(c, p)
	case wantsHTML(c):
		return s.errorPage(c, p)
	}
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	return c.JSON(p.Status, p)
}

func (s *Server) logFailure(c echo.Context, status int, err error) {
	level := slog.LevelInfo
	switch {
	case c.Request().Context().Err() != nil: // the client left
		level = slog.LevelDebug
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	case status == http.StatusBadRequest, status >= http.StatusRequestEntityTooLarge:
		level = slog.LevelWarn
	}
	s.log.LogAttrs(c.Request().Context(), level, "request failed", slog.Int("status", status), slog.String("route", c.Path()),
		slog.String("method", c.Request().Method), slog.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
		slog.Any("err", err))
}

// wantsHTML reports whether a browser asks for a page: programs that take anything get JSON.
func wantsHTML(c echo.Context) bool { return accepts(c, echo.MIMETextHTML) }

// wantsStream reports whether the client asks for server-sent events. The page's script names them in all of its requests:
// there, only the stream's own address counts.
func wantsStream(c echo.Context) bool {
	if byHTMX(c) && !strings.HasSuffix(c.Path(), "/stream") {
		return false
	}
	return accepts(c, "text/event-stream")
}

func accepts(c echo.Context, mime string) bool {
	for part := range strings.SplitSeq(c.Request().Header.Get(echo.HeaderAccept), ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), mime) {
			return true
		}
	}
	return false
}

// byHTMX reports whether a script of the page asks, which wants a fragment or nothing at all.
func byHTMX(c echo.Context) bool { return c.Request().Header.Get("HX-Request") == "true" }
