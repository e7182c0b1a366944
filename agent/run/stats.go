package run

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"footnote/agent/tools"
	"footnote/chat"
)

// stats count what all runs of the process did. They are safe for concurrent use.
type stats struct {
	mu sync.Mutex
	chat.RunStats
}

func newStats() *stats {
	return &stats{RunStats: chat.RunStats{Ended: map[chat.RunStatus]chat.Took{}, Tools: map[chat.ToolEnd]chat.Took{}}}
}

// sum returns the counts so far.
func (t *stats) sum() chat.RunStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return chat.RunStats{Ended: maps.Clone(t.Ended), Tools: maps.Clone(t.Tools), Tokens: t.Tokens, Cost: t.Cost}
}

// note counts what was stored, and writes it to the log when that is wanted.
func (w *Runner) note(ctx context.Context, ps []chat.Payload) {
	level := slog.LevelDebug
	if isOn(w.run.Request.Config.VerboseLogging) {
		level = slog.LevelInfo // of a run that asks for it all steps are seen
	}
	speaks := w.cfg.Log.Enabled(ctx, level)
	t := w.engine.stats
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range ps {
		switch p := p.(type) {
		case chat.Step:
			if _, repeated := p.Details["repeated_from"]; repeated && p.Details["edited"] == nil {
				continue
			}
			if p.ToolName != "" && over(p.Status) {
				at := chat.ToolEnd{Tool: w.known(p.ToolName), Status: p.Status}
				t.Tools[at] = t.Tools[at].And(time.Duration(p.DurationMS) * time.Millisecond)
			}
			if speaks {
				w.cfg.Log.LogAttrs(ctx, level, "step", slog.String(
					"run", w.run.ID,
				), slog.String("call", p.CallID), slog.String("step", p.Step),
					slog.String("status", string(p.Status)), slog.String("message", p.Message),
					slog.String("summary", tools.CutText(p.Summary, 500)),
					slog.String("thought", tools.CutText(p.Thought, 500)),
					slog.String("input", tools.CutText(string(p.ToolInput), 500)),
					slog.Int("output_bytes", p.OutputSize), slog.Int64("ms", p.DurationMS))
			}
		case chat.RunDone:
			took := time.Since(w.begun)
			t.Ended[p.Status] = t.Ended[p.Status].And(took)
			t.Tokens.In += w.tokens.In
			t.Tokens.Out += w.tokens.Out
			if w.cost != nil {
				t.Cost += *w.cost
			}
			if speaks {
				w.cfg.Log.LogAttrs(ctx, level, "run over", slog.String("run", w.run.ID), slog.String(
					"status", string(p.Status),
				),
					slog.Int("turns", w.turns), slog.Int("retrieval_calls", w.retrievals),
					slog.Int("tokens_in", w.tokens.In), slog.Int("tokens_out", w.tokens.Out),
					slog.Duration("took", took))
			}
		}
	}
}

// known keeps names that models make up out of the labels.
func (w *Runner) known(name string) string {
	if (tools.Set{Tools: w.engine.Registry.Tools}).Find(name) == nil {
		return "unknown"
	}
	return name
}
