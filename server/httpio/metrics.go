package httpio

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts what the server does. Every name starts with footnote_.
type Metrics struct {
	Registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	runs     *prometheus.CounterVec
	uploads  *prometheus.CounterVec
}

// NewMetrics registers the figures with a registry; without one it makes its own.
func NewMetrics(registry *prometheus.Registry) *Metrics {
	if registry == nil {
		registry = prometheus.NewRegistry()
	}
	m := &Metrics{
		Registry: registry,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "footnote_http_requests_total", Help: "Requests answered, by method, route pattern and status.",
		}, []string{"method", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "footnote_http_request_duration_seconds",
			Help:    "Time to answer, by route pattern; of a stream, how long it was open.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"route"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "footnote_runs_started_total", Help: "Questions accepted, by the route they came in on.",
		}, []string{"route"}),
		uploads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "footnote_uploads_total", Help: "Files received, by result: added, duplicate, rejected.",
		}, []string{"result"}),
	}
	registry.MustRegister(m.requests, m.latency, m.runs, m.uploads)
	prometheus.WrapRegistererWithPrefix("footnote_", registry).MustRegister(
		collectors.NewGoCollector(
			collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: liveHeap}),
		), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// liveHeap is what the collector's last run found in use, without the garbage made since.
var liveHeap = regexp.MustCompile(`^/gc/heap/live:bytes$`)

// knownMethods keeps what clients make up out of the labels.
var knownMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// observeRequest counts a request. Labels are bounded: unknown routes and methods count together.
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

// Handler answers GET /metrics.
func (m *Metrics) Handler() Handler {
	return echo.WrapHandler(promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{}))
}

// RunStarted counts a question that came in on a route.
func (m *Metrics) RunStarted(route string) { m.runs.WithLabelValues(route).Inc() }

// Uploaded counts a file that was received: added, duplicate or rejected.
func (m *Metrics) Uploaded(result string) { m.uploads.WithLabelValues(result).Inc() }
