package httpio

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

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// codeMethod is for a known path with a wrong method. It exists only in HTTP.
const codeMethod chat.Code = "method_not_allowed"

// statuses maps each code to its HTTP status; no other table does. A missing code is a 500: see Status.
//
// The statuses are those of RFC 9110, except 429 (RFC 6585, section 4) and 507 (RFC 4918, section 11.5).
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
	chat.CodeUndrawable:   http.StatusUnprocessableEntity,
	chat.CodeKeyReused:    http.StatusUnprocessableEntity,
	chat.CodeTooMany:      http.StatusTooManyRequests,
	chat.CodeDiskFull:     http.StatusInsufficientStorage,
	chat.CodeUnavailable:  http.StatusServiceUnavailable,
}

// Status returns the HTTP status of a code, 500 for an unknown one.
func Status(code chat.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// Problem is the error response (RFC 9457). It contains no internal details.
type Problem struct {
	Type      string         `json:"type"`   // Always about:blank.
	Title     string         `json:"title"`  // The status text.
	Status    int            `json:"status"` // The HTTP status.
	Code      chat.Code      `json:"code"`
	Detail    locale.Message `json:"detail"`           // a sentence for people
	RequestID string         `json:"request_id"`       // The request ID, as in the server's log.
	RunID     string         `json:"run_id,omitempty"` // of the failed run
	SessionID string         `json:"session_id,omitempty"`

	Limit   chat.LimitName `json:"limit,omitempty"`    // The reached limit: one of x-limits.
	RetryAt *time.Time     `json:"retry_at,omitempty"` // When the limit has room again, if known.

	// For an unknown route: similar routes.
	Routes []string `json:"routes,omitempty"`
}

// runError is a failure after the start of a run.
type runError struct {
	error
	run chat.Run
}

// Unwrap returns the wrapped failure.
func (e runError) Unwrap() error { return e.error }

// OfRun adds a run to a failure.
//
// The response then has the run's id and a Location, so that a client can read the run. nil stays nil.
func OfRun(run chat.Run, err error) error {
	if err == nil {
		return nil
	}
	return runError{err, run}
}

// Invalid returns a CodeInvalid error, answered with 400.
func Invalid(form string, values ...any) error {
	return chat.Invalid(form, values...)
}

// NotFound returns a CodeNotFound error, answered with 404.
func NotFound(form string, values ...any) error {
	return &chat.Error{Code: chat.CodeNotFound, Message: locale.Say(form, values...)}
}

// AsError returns the user-facing error for err.
//
// It never returns nil. An err other than a chat.Error or a failure of the router becomes CodeInternal with a
// generic message; it stays wrapped for the log.
func AsError(err error) *chat.Error {
	if e, ok := errors.AsType[*chat.Error](err); ok {
		return e
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &chat.Error{
			Code: chat.CodeTooLarge, Message: "The request is too large. Send less at once.", Err: err,
		}
	}
	if he, ok := errors.AsType[*echo.HTTPError](err); ok {
		return fromEcho(he)
	}
	if errors.Is(err, context.Canceled) {
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The request was canceled. Try again.", Err: err,
		}
	}
	return &chat.Error{Code: chat.CodeInternal, Message: chat.MessageOf(err), Err: err}
}

// fromEcho converts Echo's own errors, such as an unknown path.
func fromEcho(he *echo.HTTPError) *chat.Error {
	e := &chat.Error{Err: he}
	switch he.Code {
	case http.StatusNotFound:
		e.Code, e.Message = chat.CodeNotFound,
			"Page not found. Check the URL, or go to the start page."
	case http.StatusMethodNotAllowed:
		e.Code, e.Message = codeMethod,
			"Method not allowed. See the Allow header for the supported methods."
	case http.StatusRequestEntityTooLarge:
		e.Code, e.Message = chat.CodeTooLarge, "The request is too large. Send less at once."
	case http.StatusUnsupportedMediaType:
		e.Code, e.Message = chat.CodeUnsupported,
			"Unsupported media type. Send JSON with the header Content-Type: application/json."
	case http.StatusUnauthorized:
		e.Code, e.Message = chat.CodeUnauthorized, "A valid API key is required. Send it in the header X-API-Key."
	case http.StatusForbidden:
		e.Code, e.Message = chat.CodeForbidden, "This request is not allowed."
	case http.StatusTooManyRequests:
		e.Code, e.Message = chat.CodeTooMany, "Too many requests. Wait a moment and try again."
	case http.StatusServiceUnavailable:
		e.Code, e.Message = chat.CodeUnavailable, "The server is unavailable. Try again in a moment."
	default:
		e.Code, e.Message = chat.CodeInvalid, "Invalid request. Check its format and try again."
		if he.Code >= http.StatusInternalServerError {
			e.Code, e.Message = chat.CodeInternal, chat.MessageOf(he)
		}
	}
	return e
}

// ReachedLimit is the limit that a request exceeded.
type ReachedLimit struct {
	Name    chat.LimitName
	RetryAt *time.Time // when the limit has room again, if known
	Wait    int        // seconds to wait before a retry
}

// LimitReached returns the limit that caused a failure; ok is false for other failures.
func LimitReached(err error) (limit ReachedLimit, ok bool) {
	over, ok := errors.AsType[*chat.OverLimit](err)
	if !ok {
		return limit, false
	}
	limit = ReachedLimit{Name: over.Limit, Wait: max(1, int(math.Ceil(over.Wait.Seconds())))}
	if !over.Until.IsZero() {
		limit.RetryAt = &over.Until
	}
	return limit, true
}

// RetryAfter returns the seconds to wait before a retry: the limit's value, else usual.
//
// It is the value of the header Retry-After (RFC 9110, section 10.2.3).
func RetryAfter(err error, usual string) string {
	if limit, ok := LimitReached(err); ok {
		return strconv.Itoa(limit.Wait)
	}
	return usual
}

// ErrorHandler returns Echo's error handler. It logs err once and calls send, which encodes the response for the
// client.
//
// If the response has already begun, the failure is only logged. A failure to send the response is ignored: the
// client has disconnected.
func ErrorHandler(log *slog.Logger, send func(Context, Problem) error) echo.HTTPErrorHandler {
	return func(err error, c Context) {
		p := newProblem(c, err)
		logFailure(log, c, p.Status, err)
		if Committed(c) {
			return
		}
		p.setHeaders(c, err)
		if err := send(c, p); err != nil {
			log.LogAttrs(c.Request().Context(), slog.LevelDebug, "error not delivered", slog.Any("err", err))
		}
	}
}

// newProblem returns the user-facing problem of a failure.
func newProblem(c Context, err error) Problem {
	e := AsError(err)
	status := Status(e.Code)
	p := Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status, Code: e.Code,
		Detail:    chat.MessageFor(Scope(c).User, e),
		RequestID: c.Response().Header().Get("X-Request-Id"),
	}
	if failed, ok := errors.AsType[runError](err); ok {
		p.RunID, p.SessionID = failed.run.ID, failed.run.SessionID
	}
	if limit, ok := LimitReached(err); ok {
		p.Limit, p.RetryAt = limit.Name, limit.RetryAt
	}
	return p
}

// setHeaders sets Location for a failed run and Retry-After for a retry.
func (p Problem) setHeaders(c Context, err error) {
	res := c.Response()
	if p.RunID != "" {
		res.Header().Set("Location", "/agent/runs/"+p.RunID)
	}
	switch p.Status {
	case http.StatusRequestEntityTooLarge, http.StatusNotFound, http.StatusMethodNotAllowed:
		discardBody(c) // lets a client that is still sending read the response
	// RFC 6750, section 3, and for programs that can get a token RFC 9728, section 5.1: the header names the
	// metadata to start from.
	case http.StatusUnauthorized:
		how := `Bearer realm="Footnote"`
		if c.Path() == MCPPath {
			how += `, resource_metadata="` + Origin(c) + MetadataPath + MCPPath + `", scope="mcp"`
			if key, _ := RequestKey(c.Request()); strings.HasPrefix(key, tokenPrefix) {
				how += `, error="invalid_token"`
			}
		}
		res.Header().Set("WWW-Authenticate", how)
	case http.StatusTooManyRequests:
		discardBody(c)
		res.Header().Set("Retry-After", RetryAfter(err, "1"))
	case http.StatusInsufficientStorage:
		discardBody(c)
		res.Header().Set("Retry-After", RetryAfter(err, "5"))
	case http.StatusServiceUnavailable:
		res.Header().Set("Retry-After", RetryAfter(err, "5"))
	}
	res.Header().Set("Cache-Control", "no-store")
}

// logFailure logs a failed request once, at a level by its status: a client's mistake is no error of the server.
func logFailure(log *slog.Logger, c Context, status int, err error) {
	level := slog.LevelInfo
	switch {
	case c.Request().Context().Err() != nil: // the client disconnected
		level = slog.LevelDebug
	case status >= http.StatusInternalServerError:
		level = slog.LevelError
	case status == http.StatusBadRequest, status >= http.StatusRequestEntityTooLarge:
		level = slog.LevelWarn
	}
	log.LogAttrs(c.Request().Context(), level, "request failed", slog.Int("status", status), slog.String(
		"route", c.Path(),
	),
		slog.String("method", c.Request().Method),
		slog.String("request_id", c.Response().Header().Get("X-Request-Id")),
		slog.Any("err", err))
}
