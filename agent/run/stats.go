package run

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// stats count what all runs of the process did. They are safe for concurrent use. Nothing of them is stored: what a run
// cost is in its own log.
type stats struct {
	mu sync.Mutex
	chat.RunStats
}

// newStats starts at zero: counts are those of this process since its start.
func newStats() *stats {
	return &stats{RunStats: chat.RunStats{
		Ended: map[chat.RunStatus]chat.Took{}, Tools: map[chat.ToolEnd]chat.Took{}, Spent: map[string]chat.Spent{},
	}}
}

// copyCounts returns the counts so far.
func (t *stats) copyCounts() chat.RunStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return chat.RunStats{
		Ended: maps.Clone(t.Ended), Tools: maps.Clone(t.Tools), Spent: maps.Clone(t.Spent), Tokens: t.Tokens,
		Cost: t.Cost,
	}
}

// countBudget counts what a run took in all.
func (t *stats) countBudget(b *budget) {
	t.Tokens.In += b.tokens.In
	t.Tokens.Out += b.tokens.Out
	if b.cost != nil {
		t.Cost += *b.cost
	}
}

// countGathered is countBudget for a search by an agent, which ends without an event.
func (t *stats) countGathered(b *budget) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.countBudget(b)
}

// countTurn counts what a turn with calls took by the tools that it called: it was taken whatever becomes of the calls.
// A turn with several calls is shared out among their tools, so that the sum over the tools is the sum of the turns.
func (s *state) countTurn(r reply) {
	t := s.engine.stats
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, call := range r.calls {
		tool := s.toolLabel(call.Name)
		t.Spent[tool] = t.Spent[tool].And(chat.Spent{Tokens: r.tokens, Cost: r.cost}.Share(i, len(r.calls)))
	}
}

// countEvents counts what was stored, and writes it to the log when that is wanted. It is called once for events that
// were stored, so that what is counted is what readers can see. A step that is repeated from an earlier run was counted
// there.
func (s *state) countEvents(ctx context.Context, ps []chat.Payload) {
	level := slog.LevelDebug
	if isOn(s.run.Request.Config.VerboseLogging) {
		level = slog.LevelInfo // of a run that asks for it all steps are seen
	}
	speaks := s.cfg.Log.Enabled(ctx, level)
	t := s.engine.stats
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range ps {
		switch p := p.(type) {
		case chat.Step:
			if _, repeated := p.Details["repeated_from"]; repeated && p.Details["edited"] == nil {
				continue
			}
			if p.ToolName != "" && isOver(p.Status) {
				at := chat.ToolEnd{Tool: s.toolLabel(p.ToolName), Status: p.Status}
				t.Tools[at] = t.Tools[at].And(time.Duration(p.DurationMS) * time.Millisecond)
			}
			if speaks {
				s.cfg.Log.LogAttrs(ctx, level, "step", slog.String(
					"run", s.run.ID,
				), slog.String("call", p.CallID), slog.String("step", p.Step),
					slog.String("status", string(p.Status)), slog.String("message", p.Message),
					slog.String("summary", tools.CutText(p.Summary, 500)),
					slog.String("thought", tools.CutText(p.Thought, 500)),
					slog.String("input", tools.CutText(string(p.ToolInput), 500)),
					slog.Int("output_bytes", p.OutputSize), slog.Int64("ms", p.DurationMS))
			}
		case chat.RunDone:
			took := time.Since(s.budget.begun)
			t.Ended[p.Status] = t.Ended[p.Status].And(took)
			t.countBudget(&s.budget)
			if speaks {
				s.cfg.Log.LogAttrs(ctx, level, "run over", slog.String("run", s.run.ID), slog.String(
					"status", string(p.Status),
				),
					slog.Int("turns", s.budget.turns), slog.Int("retrieval_calls", s.budget.retrievals),
					slog.Int("tokens_in", s.budget.tokens.In), slog.Int("tokens_out", s.budget.tokens.Out),
					slog.Duration("took", took))
			}
		}
	}
}

// toolLabel keeps names that models make up out of the labels. Labels of metrics are kept for the life of the process:
// names from outside would grow without bound.
func (k *knowledge) toolLabel(name string) string {
	if (tools.Set{Tools: k.engine.Registry.Tools}).Find(name) == nil {
		return "unknown"
	}
	return name
}
