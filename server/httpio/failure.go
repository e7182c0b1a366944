package httpio

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/footnote/footnote/chat"
)

// ErrorHandler is Echo's error handler: it logs err once and answers with send, in the form the client reads.
//
// When the response has begun, the failure is logged and nothing more can be said. An answer that can't be delivered is
// no second failure: the client has left.
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

// newProblem says what may be shown of a failure.
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

// setHeaders tells clients where the failed run is and when to try again.
func (p Problem) setHeaders(c Context, err error) {
	res := c.Response()
	if p.RunID != "" {
		res.Header().Set("Location", "/agent/runs/"+p.RunID)
	}
	switch p.Status {
	case http.StatusRequestEntityTooLarge, http.StatusNotFound, http.StatusMethodNotAllowed:
		discardBody(c) // so that a client which is still sending reads the answer
	// RFC 6750, section 3, and for programs that can get a token RFC 9728, section 5.1: they read there where to begin.
	case http.StatusUnauthorized:
		how := `Bearer realm="Footnote"`
		if c.Path() == MCPPath {
			how += `, resource_metadata="` + Origin(c) + MetadataPath + MCPPath + `", scope="mcp"`
			if key, _ := SentKey(c.Request()); strings.HasPrefix(key, tokenPrefix) {
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

// logFailure logs an answered failure once, at the level that fits: what the client did wrong is no error of ours.
func logFailure(log *slog.Logger, c Context, status int, err error) {
	level := slog.LevelInfo
	switch {
	case c.Request().Context().Err() != nil: // the client left
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
