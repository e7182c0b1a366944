package httpio

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics holds the server's Prometheus metrics. Every name starts with footnote_.
type Metrics struct {
	Registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	runs     *prometheus.CounterVec
	uploads  *prometheus.CounterVec
}

// NewMetrics registers the metrics with a registry, a new one if it is nil.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	m := &Metrics{
		Registry: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "footnote_http_requests_total", Help: "Requests by method, route pattern and status.",
		}, []string{"method", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "footnote_http_request_duration_seconds",
			Help:    "Response time by route pattern; for streams, the duration of the connection.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"route"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "footnote_runs_started_total", Help: "Accepted questions by route.",
		}, []string{"route"}),
		uploads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "footnote_uploads_total", Help: "Uploaded files by result: added, duplicate, rejected.",
		}, []string{"result"}),
	}
	registry.MustRegister(m.requests, m.latency, m.runs, m.uploads)
	prometheus.WrapRegistererWithPrefix("footnote_", registry).MustRegister(
		collectors.NewGoCollector(
			collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap}),
		), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// liveHeap matches the heap in use after the last garbage collection.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

// knownMethods bounds the label of the method.
var knownMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// observeRequest counts a request. Labels are bounded: unknown routes and methods share one value.
func (m *Metrics) observeRequest(method, route string, status int, took time.Duration) {
	if route == "" {
		route = "none"
	}
	if !slices.Contains(knownMethods, method) {
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.latency.WithLabelValues(route).Observe(took.Seconds())
}

// Handler handles GET /metrics.
func (m *Metrics) Handler() Handler {
	return echo.WrapHandler(promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
}

// RunStarted counts a question on a route.
func (m *Metrics) RunStarted(route string) { m.runs.WithLabelValues(route).Inc() }

// Uploaded counts an uploaded file: added, duplicate or rejected.
func (m *Metrics) Uploaded(result string) { m.uploads.WithLabelValues(result).Inc() }

var requestID = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// Observe is the outermost middleware: it assigns the request id, recovers from panics, answers errors, and counts,
// times and logs the request. Bodies and queries are never logged.
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

// recoverPanic calls next and returns a panic as an error. If the response has begun, it aborts the connection, so
// that the client does not mistake a partial response for a complete one.
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

// Only this package imports Echo. The other packages use these aliases, so a new major version affects only this
// package.
type (
	// Context is a request and its response. It is pooled by the router, so it must not be kept after the handler
	// returns.
	Context = echo.Context
	// Handler handles a request, or returns the error to send.
	Handler = echo.HandlerFunc
	// Middleware wraps the handlers of a router.
	Middleware = echo.MiddlewareFunc
	// Router routes requests by method and path.
	Router = echo.Echo
)

// Media types of bodies, without parameters.
const (
	TypeJSON      = "application/json"
	TypeForm      = "application/x-www-form-urlencoded"
	TypeMultipart = "multipart/form-data"
	TypeHTML      = "text/html"
	TypeText      = "text/plain"
	TypeBytes     = "application/octet-stream"
)

// Route is a method and a path of the router. Path parameters begin with a colon.
type Route struct{ Method, Path string }

// NewRouter returns a router without routes. It logs nothing itself. The client's address is the peer's, regardless
// of headers.
func NewRouter() *Router {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard)
	e.IPExtractor = echo.ExtractIPDirect()
	return e
}

// Routes returns the routes of a router, unordered.
func Routes(r *Router) []Route {
	var routes []Route
	for _, route := range r.Routes() {
		routes = append(routes, Route{Method: route.Method, Path: route.Path})
	}
	return routes
}

// Compress returns the middleware that compresses responses of 1 KiB and more with gzip, except for requests that
// skip selects. The level is low to reduce latency.
func Compress(skip func(Context) bool) Middleware {
	return middleware.GzipWithConfig(middleware.GzipConfig{Skipper: skip, Level: 2, MinLength: 1024})
}

// Committed reports whether the response's status was sent.
func Committed(c Context) bool { return c.Response().Committed }

// Fail sends an error response by the router's ErrorHandler.
func Fail(c Context, err error) { c.Error(err) }

// StatusError returns an error for a status with its default message.
func StatusError(status int) error { return echo.NewHTTPError(status) }

// WantsHTML reports whether a client prefers HTML. Programs that accept anything get JSON, and so does a client that
// accepts both with an equal weight for JSON.
//
// It uses the weights of RFC 9110, section 12.4.2, but ignores wildcards: curl sends */* and is a program.
func WantsHTML(c Context) bool {
	html, htmlAt := acceptWeight(c, TypeHTML)
	json, jsonAt := acceptWeight(c, TypeJSON)
	return html > json || html > 0 && html == json && htmlAt < jsonAt
}

// WantsStream reports whether the client accepts server-sent events. The page's script accepts them in all of its
// requests: there, only the stream's own path counts.
func WantsStream(c Context) bool {
	if ByHTMX(c) && !strings.HasSuffix(c.Path(), "/stream") {
		return false
	}
	stream, _ := acceptWeight(c, "text/event-stream")
	return stream > 0
}

// acceptWeight returns the weight of a media type in a request's Accept header, from 0 to 1, and its position.
// Wildcards are ignored.
func acceptWeight(c Context, mime string) (quality float64, place int) {
	for part := range strings.SplitSeq(c.Request().Header.Get("Accept"), ",") {
		name, params, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), mime) {
			return qualityOf(params), place
		}
		place++
	}
	return 0, place
}

// qualityOf parses the parameter q of a type in an Accept header; a missing or invalid one is 1.
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

// ByHTMX reports whether the page's script sent the request, which expects a fragment.
func ByHTMX(c Context) bool { return c.Request().Header.Get("HX-Request") == "true" }

// Show sends a component as HTML after rendering it into a buffer.
//
// If the component fails, nothing is sent, so a page is never partial. The response is not cacheable, since it is
// one user's. It varies with the headers that determine its form and language.
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
