package httpio

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

var requestID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// Observe is the outermost middleware: it names the request, turns a panic into an error, answers errors, and counts,
// times and logs what came of it. Bodies and queries are never logged.
func Observe(m *Metrics, log *slog.Logger) Middleware {
	return func(next Handler) Handler {
		return func(c Context) error {
			start := time.Now()
			req, res := c.Request(), c.Response()
			id := req.Header.Get("X-Request-Id")
			if !requestID.MatchString(id) {
				id = strings.ToLower(rand.Text()[:16])
			}
			res.Header().Set("X-Request-Id", id)
			if err := recoverPanic(next, c); err != nil {
				Fail(c, err)
			}
			took := time.Since(start)
			m.observeRequest(req.Method, c.Path(), res.Status, took)
			level := slog.LevelInfo
			if c.Path() == "/health" || c.Path() == "/readyz" || c.Path() == "/metrics" {
				level = slog.LevelDebug
			}
			log.LogAttrs(req.Context(), level, "request", slog.String("method", req.Method), slog.String(
				"route", c.Path(),
			),
				slog.Int("status", res.Status), slog.Duration("took", took), slog.Int64("bytes", res.Size),
				slog.String("request_id", id))
			return nil
		}
	}
}

// recoverPanic calls next and returns a panic as an error. When the response has begun already, the connection is cut,
// so that the client does not take a half answer for a whole one.
func recoverPanic(next Handler, c Context) (err error) {
	defer func() {
		what := recover()
		if what == nil {
			return
		}
		if cause, ok := what.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
			panic(what)
		}
		err = fmt.Errorf("panic: %v\n%s", what, debug.Stack())
		if Committed(c) {
			Fail(c, err)
			panic(http.ErrAbortHandler)
		}
	}()
	return next(c)
}
