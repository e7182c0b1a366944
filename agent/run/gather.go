package run

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus"
)

//go:embed gather.md
var gatherPrompt string

const (
	gatherSeconds = 20 // of the 30 that a caller waits: the rest is for a plain search

	// leastGathered is the score of a closer look (corpus.Rerank, 0–1) below which a passage is left out. No
	// measurement of it is recorded.
	leastGathered = 0.15
)

// Gathered is what an agent found for a query.
type Gathered struct {
	Results []corpus.Result // best first, each passage once, with one score for all tools: 0–1
	Steps   []chat.Step     // what was done, each as it ended
	Notes   []string
	Spent   chat.Spent // what it took from models; its cost is of all of it, or nil
}

// Gather lets a run choose how to search for its question, and returns what it found instead of an answer. Nothing is
// stored. It fails when the model does and there is no fallback; what was found until then comes with the error. Its
// store of events is a function that collects steps, so all else of a run is as always.
func (e *Engine) Gather(ctx context.Context, run chat.Run, set tools.Set, most int) (out Gathered, err error) {
	ctx, c := NewControl(ctx, run.User)
	w := e.NewRunner(run, set, c)
	defer w.Wait()
	defer c.Close()
	w.budget.limits.Seconds = min(w.budget.limits.Seconds, gatherSeconds)
	place := map[string]int{}
	w.log.store = func(ctx context.Context, ps ...chat.Payload) error {
		w.countEvents(ctx, ps)
		for _, p := range ps {
			if s, ok := p.(chat.Step); ok {
				// a step that ends takes the place of its beginning
				if i, known := place[s.CallID]; known {
					out.Steps[i] = s
					continue
				}
				place[s.CallID] = len(out.Steps)
				out.Steps = append(out.Steps, s)
			}
		}
		return nil
	}
	err = w.gatherPassages(ctx)
	out.Results, out.Notes = w.rankedResults(most), []string{}
	out.Spent = chat.Spent{Tokens: w.budget.tokens, Cost: w.budget.cost}
	// a run without run_done is counted here, or its tokens would be in no sum
	e.stats.countGathered(&w.budget)
	for _, s := range out.Steps {
		if s.Step == "fallback" {
			out.Notes = append(out.Notes, s.Message+".")
		}
	}
	return out, err
}

// gatherPassages lets the model call tools until it has enough. It is answerLoop without an answer: the text of a turn
// is dropped, and a spent budget ends it without an error. Rules may choose here as in any run; where they do, the
// phase is not gathering any more and no model is asked.
func (w *Runner) gatherPassages(ctx context.Context) error {
	if err := w.beginRun(ctx); err != nil {
		return err
	}
	if err := w.findProfile(ctx); err != nil {
		return err
	}
	w.messages.list[0].Text += "\n\n" + strings.TrimSpace(gatherPrompt)
	if err := w.preselectTools(ctx); err != nil {
		return err
	}
	for w.phase == gathering {
		if w.budget.checkLimits(); w.budget.stop != "" {
			return nil
		}
		r, err := w.model.completeTurn(ctx)
		if err != nil {
			return err
		}
		w.log.writer.Reset()
		if len(r.calls) == 0 {
			return nil
		}
		if err := w.runTurnCalls(ctx, r); err != nil {
			return fmt.Errorf("gather: %w", err)
		}
	}
	return nil
}
