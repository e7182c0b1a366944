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

// budget is what a run may use, what it has used, and why it must answer when a limit is reached. Only the run's
// goroutine changes it. A search by fallBackToPipeline may lift stop and limits for its time, and puts both back.
type budget struct {
	control *Control         // whose user may want the answer now
	prices  map[string]Price // by model
	// what toolset, settings and request allow together, see Engine.budgetOf
	limits chat.Budget
	// when this process took the run up; a resumed run gets its whole time again
	begun      time.Time
	turns      int // model turns that may call tools
	retrievals int // calls that search or read
	badTurns   int // turns in a row with calls that could not run
	cutTurns   int // turns cut at the token limit
	tokens     chat.Tokens
	cost       *float64        // of what was used; nil without prices
	unpriced   int             // replies of models without a price: with any, the run has no cost
	stop       chat.StopReason // why the answer is forced; empty while it is not
}

// checkLimits decides whether a budget is spent, so that the next turn has to answer from what there is. The first
// reason found stands: a budget that is spent stays spent, whatever else runs out later.
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

// mayCall reports whether there is room for further calls of the program's own.
func (b *budget) mayCall() bool {
	b.checkLimits()
	return b.stop == "" && b.retrievals < b.limits.RetrievalCalls
}

// isLate reports whether the rest of the time is needed for the answer.
func (b *budget) isLate() bool { return time.Since(b.begun) >= b.searchTime() }

// totalTime is how long the run may take in all, its answer included.
func (b *budget) totalTime() time.Duration { return time.Duration(b.limits.Seconds) * time.Second }

// searchTime is how long tools may be called: the last sixth of the run's time is kept for writing the answer
// (answerReserve).
func (b *budget) searchTime() time.Duration { return b.totalTime() - b.totalTime()/answerReserve }

// chargeTokens adds tokens to what the run has used, and returns their cost; nil without a price for the model. A part
// is not given as the whole: once a model without a price was used, the run has no cost. The prices are those of the
// settings at this moment; what a run cost is stored and never computed again.
func (b *budget) chargeTokens(model llm.Model, used chat.Tokens) *float64 {
	cost := b.costOf(model, used)
	b.charge(chat.Spent{Tokens: used, Cost: cost})
	return cost
}

// charge adds what was spent, at a price or without one.
func (b *budget) charge(spent chat.Spent) {
	if spent.Cost == nil {
		b.unpriced++
	}
	sum := chat.Spent{Tokens: b.tokens, Cost: b.cost}.And(spent)
	if b.tokens, b.cost = sum.Tokens, sum.Cost; b.unpriced > 0 {
		b.cost = nil
	}
}

// recallSpent charges what the steps of a run say that it took before it was taken up again. Steps of earlier versions
// may not say what it cost: then it is as if the run's model took it all.
func (b *budget) recallSpent(model llm.Model, before chat.Spent) {
	if before.Cost == nil {
		b.chargeTokens(model, before.Tokens)
		return
	}
	b.charge(before)
}

// chargeFailedReply charges a reply that failed as far as its server said what it used.
func (b *budget) chargeFailedReply(model llm.Model, err error) (spent chat.Spent) {
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Usage != nil {
		spent.Tokens = chat.Tokens{In: e.Usage.In, Out: e.Usage.Out}
		spent.Cost = b.chargeTokens(model, spent.Tokens)
	}
	return spent
}

// costOf is what some tokens cost, in the currency of the settings; nil without a price for the model. Prices are per
// million tokens. The offline model costs nothing as soon as any model has a price.
func (b *budget) costOf(model llm.Model, used chat.Tokens) *float64 {
	price, ok := b.prices[model.Name()]
	if !ok && (model.Name() != offlineName || len(b.prices) == 0) { // rules cost nothing
		return nil
	}
	cost := (float64(used.In)*price.In + float64(used.Out)*price.Out) / 1e6
	return &cost
}

// addUsage adds to run_done what the run used. For a completed run, its answer says most of it already. Without it a
// failed run would seem to have cost nothing.
func (b *budget) addUsage(done chat.RunDone) chat.RunDone {
	done.RetrievalCalls = b.retrievals
	if done.Status != chat.RunCompleted {
		tokens := b.tokens
		done.StepsUsed, done.Tokens, done.Cost = b.turns, &tokens, b.cost
	}
	return done
}

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
