package server

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/footnote/footnote/chat"
)

// statsCollector exports the statistics of runs as metrics.
//
// It keeps no counters: each scrape calls read once for the totals since the program started, so the values are of
// one moment.
type statsCollector struct{ read func() chat.RunStats }

// Times are in seconds and sizes in base units, as Prometheus advises; costs are in the currency of the settings'
// prices. Labels are the program's own tools and states, never user input, so their number is bounded.
var (
	runsRunning = prometheus.NewDesc("footnote_runs_running", "Active runs.", nil, nil)
	runsEnded   = prometheus.NewDesc(
		"footnote_runs_ended_total", "Completed runs by status; failed ones are errors.", []string{"status"}, nil,
	)
	runsTime = prometheus.NewDesc(
		"footnote_runs_seconds_total", "Duration of runs by status.", []string{"status"}, nil,
	)
	toolCalls = prometheus.NewDesc(
		"footnote_tool_calls_total", "Tool calls by tool and status.", []string{"tool", "status"}, nil,
	)
	toolTime = prometheus.NewDesc(
		"footnote_tool_seconds_total", "Duration of tool calls.", []string{"tool", "status"}, nil,
	)
	toolTokens = prometheus.NewDesc(
		"footnote_tool_tokens_total", "Model tokens of turns with tool calls, shared by the calls of a turn.",
		[]string{"tool", "direction"}, nil,
	)
	toolCost = prometheus.NewDesc(
		"footnote_tool_cost_total", "Cost of these tokens, by the prices in the settings.", []string{"tool"}, nil,
	)
	modelTokens = prometheus.NewDesc(
		"footnote_model_tokens_total", "Input and output tokens of models.", []string{"direction"}, nil,
	)
	modelCost = prometheus.NewDesc(
		"footnote_model_cost_total",
		"Cost of runs, by the prices in the settings; runs of models without a price are excluded.", nil, nil,
	)
)

// Describe implements prometheus.Collector.
func (statsCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		runsRunning, runsEnded, runsTime, toolCalls, toolTime, toolTokens, toolCost, modelTokens, modelCost,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c statsCollector) Collect(out chan<- prometheus.Metric) {
	t := c.read()
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	out <- prometheus.MustNewConstMetric(runsRunning, prometheus.GaugeValue, float64(t.Running))
	for status, took := range t.Ended {
		count(runsEnded, float64(took.Times), string(status))
		count(runsTime, took.Time.Seconds(), string(status))
	}
	for end, took := range t.Tools {
		count(toolCalls, float64(took.Times), end.Tool, string(end.Status))
		count(toolTime, took.Time.Seconds(), end.Tool, string(end.Status))
	}
	for tool, spent := range t.Spent {
		count(toolTokens, float64(spent.Tokens.In), tool, "in")
		count(toolTokens, float64(spent.Tokens.Out), tool, "out")
		if spent.Cost != nil {
			count(toolCost, *spent.Cost, tool)
		}
	}
	count(modelTokens, float64(t.Tokens.In), "in")
	count(modelTokens, float64(t.Tokens.Out), "out")
	count(modelCost, t.Cost)
}

// watchStats registers the gauges of the server's own state.
func (s *Server) watchStats(stats func() chat.RunStats) {
	if stats != nil {
		s.metrics.Registry.MustRegister(statsCollector{stats})
	}
	s.metrics.Registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "footnote_streams_open", Help: "Live event streams."},
			func() float64 { return float64(s.streams.Count()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "footnote_draining", Help: "1 while shutting down."},
			func() float64 {
				if s.streams.IsDraining() {
					return 1
				}
				return 0
			}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "footnote_info", Help: "Always 1; the version is in the label.",
			ConstLabels: prometheus.Labels{"version": s.version},
		}, func() float64 { return 1 }),
	)
}
