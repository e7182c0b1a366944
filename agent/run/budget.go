package run

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// budget holds a run's limits, its usage, and the reason why it must answer once a limit is reached. Only the run's
// goroutine changes it. fallBackToPipeline may lift stop and limits during its search, and then restores both.
type budget struct {
	control *Control         // reports whether the user wants the answer now
	prices  map[string]Price // by model
	// combined limits of toolset, settings and request, see Engine.budgetOf
	limits chat.Budget
	// when this process started or resumed the run; a resumed run gets its whole time again
	begun      time.Time
	turns      int // model turns that may call tools
	retrievals int // calls that search or read
	badTurns   int // consecutive turns with calls that could not run
	cutTurns   int // turns cut at the token limit
	tokens     chat.Tokens
	cost       *float64        // total; nil without prices
	unpriced   int             // replies of models without a price: with any, the run has no cost
	stop       chat.StopReason // why the answer is forced; empty while it is not
}

// checkLimits sets stop if a limit is reached, so that the next turn must answer from the results so far. The first
// reason stays, whatever limit is reached later.
func (b *budget) checkLimits() {
	switch {
	case b.stop != "":
	case b.control.now.Err() != nil:
		b.stop = chat.StopAnswerNow
	case b.turns >= b.limits.Steps:
		b.stop = chat.StopMaxSteps
	case b.tokens.In+b.tokens.Out >= b.limits.Tokens:
		b.stop = chat.StopMaxTokens
	case b.badTurns > maxRepairs, b.cutTurns >= maxCuts:
		b.stop = chat.StopUnusableCalls
	case b.isLate():
		b.stop = chat.StopTimeout
	}
}

// mayCall reports whether the program may make further calls.
func (b *budget) mayCall() bool {
	b.checkLimits()
	return b.stop == "" && b.retrievals < b.limits.RetrievalCalls
}

// isLate reports whether the time for tools is over; the rest is kept for the answer.
func (b *budget) isLate() bool { return time.Since(b.begun) >= b.searchTime() }

// totalTime returns the run's timeout, its answer included.
func (b *budget) totalTime() time.Duration { return time.Duration(b.limits.Seconds) * time.Second }

// searchTime returns the timeout for tools: the last sixth of the run's time is kept for writing the answer
// (answerReserve).
func (b *budget) searchTime() time.Duration { return b.totalTime() - b.totalTime()/answerReserve }

// chargeTokens adds tokens to the run's usage, and returns their cost; nil without a price for the model. Once a
// model without a price was used, the run has no cost, since a partial sum would mislead. Prices are those of the
// settings at this moment. A stored cost is never recomputed.
func (b *budget) chargeTokens(model llm.Model, used chat.Tokens) *float64 {
	cost := b.costOf(model, used)
	b.charge(chat.Spent{Tokens: used, Cost: cost})
	return cost
}

// charge adds usage with or without a cost.
func (b *budget) charge(spent chat.Spent) {
	if spent.Cost == nil {
		b.unpriced++
	}
	sum := chat.Spent{Tokens: b.tokens, Cost: b.cost}.And(spent)
	if b.tokens, b.cost = sum.Tokens, sum.Cost; b.unpriced > 0 {
		b.cost = nil
	}
}

// recallSpent charges the usage in the log of a resumed run. Steps of earlier versions may lack a cost. Then the
// usage is charged at the price of the run's model.
func (b *budget) recallSpent(model llm.Model, before chat.Spent) {
	if before.Cost == nil {
		b.chargeTokens(model, before.Tokens)
		return
	}
	b.charge(before)
}

// chargeFailedReply charges a failed reply if its server reported the usage.
func (b *budget) chargeFailedReply(model llm.Model, err error) (spent chat.Spent) {
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Usage != nil {
		spent.Tokens = chat.Tokens{In: e.Usage.In, Out: e.Usage.Out}
		spent.Cost = b.chargeTokens(model, spent.Tokens)
	}
	return spent
}

// costOf returns the cost of tokens, in the currency of the settings; nil without a price for the model. Prices are
// per million tokens. The offline model costs 0 as soon as any model has a price.
func (b *budget) costOf(model llm.Model, used chat.Tokens) *float64 {
	price, ok := b.prices[model.Name()]
	if !ok && (model.Name() != offlineName || len(b.prices) == 0) {
		return nil
	}
	cost := (float64(used.In)*price.In + float64(used.Out)*price.Out) / 1e6
	return &cost
}

// addUsage adds the run's usage to run_done. A completed run's answer already has most of it. For a failed run the
// event is the only record of its cost.
func (b *budget) addUsage(done chat.RunDone) chat.RunDone {
	done.RetrievalCalls = b.retrievals
	if done.Status != chat.RunCompleted {
		tokens := b.tokens
		done.StepsUsed, done.Tokens, done.Cost = b.turns, &tokens, b.cost
	}
	return done
}

// stats counts the activity of all runs of the process. It is safe for concurrent use. It is not stored: a run's
// cost is in its own log.
type stats struct {
	mu sync.Mutex
	chat.RunStats
}

// newStats returns zero counters: they count from the start of the process.
func newStats() *stats {
	return &stats{RunStats: chat.RunStats{
		Ended: map[chat.RunStatus]chat.Took{}, Tools: map[chat.ToolEnd]chat.Took{}, Spent: map[string]chat.Spent{},
	}}
}

// copyCounts returns a snapshot of the counters.
func (t *stats) copyCounts() chat.RunStats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return chat.RunStats{
		Ended: maps.Clone(t.Ended), Tools: maps.Clone(t.Tools), Spent: maps.Clone(t.Spent), Tokens: t.Tokens,
		Cost: t.Cost,
	}
}

// countBudget adds a run's total usage.
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

// countTurn counts the usage of a turn by the tools that it called, whether or not the calls succeed. The usage of a
// turn with several calls is shared among their tools, so that the sum over tools equals the sum of the turns.
func (s *state) countTurn(r reply) {
	t := s.engine.stats
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, call := range r.calls {
		tool := s.toolLabel(call.Name)
		t.Spent[tool] = t.Spent[tool].And(chat.Spent{Tokens: r.tokens, Cost: r.cost}.Share(i, len(r.calls)))
	}
}

// countEvents counts stored events, and logs them at the debug level, or info if the request asks for it. It must be
// called once for events after they were stored, so that counters match the visible log. It skips a step repeated
// from an earlier run, which was counted there.
func (s *state) countEvents(ctx context.Context, ps []chat.Payload) {
	level := slog.LevelDebug
	if isOn(s.run.Request.Config.VerboseLogging) {
		level = slog.LevelInfo // such a run logs all steps
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

// toolLabel returns a metric label for a tool: "unknown" for a name that is not in the registry. Labels live as long
// as the process, so names that models make up would grow without bound.
func (k *knowledge) toolLabel(name string) string {
	if (tools.Set{Tools: k.engine.Registry.Tools}).Find(name) == nil {
		return "unknown"
	}
	return name
}
