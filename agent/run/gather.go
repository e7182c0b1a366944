package run

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

var (
	//go:embed gather.md
	gatherPrompt string
	//go:embed reflect_found.md
	reflectFoundDoc string
)

const gatherSeconds = 20 // of the 30 that a caller waits: the rest is for a plain search

// Gathered is what an agent found for a query.
type Gathered struct {
	Results []corpus.Result // best first, each passage once, with one score for all tools: 0–1
	Steps   []chat.Step     // what was done, each as it ended
	Notes   []string
	Spent   chat.Spent // what it took from models; its cost is of all of it, or nil
}

// Gather lets a run choose how to search for its question, and returns what it found instead of an answer. Nothing is
// stored. It fails when the model does: the caller falls back to a search. What was found until then comes with the
// error. Its store of events is a function that collects steps, so all else of a run is as always.
func (e *Engine) Gather(ctx context.Context, run chat.Run, set tools.Set, most int) (out Gathered, err error) {
	ctx, c := NewControl(ctx, run.User)
	w := e.NewRunner(run, set, c)
	defer w.Wait()
	defer c.Close()
	w.budget.limits.Seconds = min(w.budget.limits.Seconds, gatherSeconds)
	cfg := *w.cfg
	cfg.Fallback, w.cfg = nil, &cfg
	w.collectSteps(&out.Steps)
	err = w.gatherPassages(ctx)
	out.Results = w.rankedResults(most)
	if err == nil {
		out.Results, err = w.addListed(ctx, out.Results, out.Steps, most)
	}
	out.Spent = chat.Spent{Tokens: w.budget.tokens, Cost: w.budget.cost}
	// a run without run_done is counted here, or its tokens would be in no sum
	e.stats.countGathered(&w.budget)
	return out, err
}

// collectSteps has a run's steps collected, each as it ended, instead of stored.
func (w *Runner) collectSteps(steps *[]chat.Step) {
	place := map[string]int{}
	w.log.store = func(ctx context.Context, ps ...chat.Payload) error {
		w.countEvents(ctx, ps)
		for _, p := range ps {
			if s, ok := p.(chat.Step); ok {
				// a step that ends takes the place of its beginning
				if i, known := place[s.CallID]; known {
					(*steps)[i] = s
					continue
				}
				place[s.CallID] = len(*steps)
				*steps = append(*steps, s)
			}
		}
		return nil
	}
}

// gatherPassages has the model plan, call tools until it has enough, and judge what it found. It is answerLoop without
// an answer: the text of the last turn is dropped, and a spent budget ends it without an error. Rules may choose here
// as in any run; where they do, the phase is not gathering any more and no model chooses.
func (w *Runner) gatherPassages(ctx context.Context) error {
	if err := w.beginRun(ctx); err != nil {
		return err
	}
	if err := w.findProfile(ctx); err != nil {
		return err
	}
	w.messages.list[0].Text += "\n\n" + strings.TrimSpace(gatherPrompt)
	if plans := &w.run.Request.Config.EnableQueryDecomposition; *plans == nil && w.set.Reflective &&
		!w.model.isRuleBased() && !w.model.isSmall() {
		on := true
		*plans = &on
	}
	if err := w.makePlan(ctx); err != nil {
		return err
	}
	if err := w.searchParts(ctx); err != nil {
		return err
	}
	// the model made of rules reads questions for their words, not for properties of documents
	if c, ok := w.byProperties(choice{}); ok && w.model.isRuleBased() && w.asked.Type == question.Metadata {
		return w.makeChosenCalls(ctx, c)
	}
	if err := w.preselectTools(ctx); err != nil {
		return err
	}
	for again := true; again; {
		if err := w.callTools(ctx); err != nil {
			return err
		}
		var err error
		if again, err = w.reconsiderFound(ctx); err != nil {
			return err
		}
	}
	return nil
}

// callTools lets the model call tools until a turn has no calls or the budget is spent.
func (w *Runner) callTools(ctx context.Context) error {
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
			if strings.Trim(r.text, ". \n") == "DONE" {
				return nil
			}
			return w.log.emitDropped(ctx, llm.Dropped{
				Text: r.text, Message: "Removed an answer: only passages were asked for",
			})
		}
		if err := w.runTurnCalls(ctx, r); err != nil {
			return fmt.Errorf("gather: %w", err)
		}
	}
	return nil
}

// reconsiderFound has the model judge, once, whether the passages that were found hold what is asked for. True means
// that its confidence was low and that it searches on, as far as the budget goes. Nothing is judged where one passage
// holds all that the question is about.
func (w *Runner) reconsiderFound(ctx context.Context) (again bool, err error) {
	if w.remedies[foundJudged] || w.budget.stop != "" || w.toolContext.Sources.IsEmpty() || !w.shouldJudge("") ||
		w.asked.Complexity == "simple" && w.onePassageSuffices() {
		return false, nil
	}
	w.remedies[foundJudged] = true
	var b strings.Builder
	b.WriteString("Question: " + w.run.Request.Message + "\n")
	rules := strings.ReplaceAll(reflectFoundDoc, "{{nonce}}", w.nonce)
	room := w.cfg.Features.ContextTokens*8/10 - estimateTokens(rules) - estimateTokens(b.String()) - completeTokens
	w.showPassages(&b, &room)
	step := w.log.newStep("reflect", chat.ActionAnalysing, chat.StatusComplete, "Judged what was found")
	judged, err := w.askJudgement(ctx, &step, []llm.Message{
		{Role: llm.RoleSystem, Text: rules}, {Role: llm.RoleUser, Text: fenceData(w.nonce, b.String())},
	}, nil)
	if err != nil {
		return false, err
	}
	if judged.text == "" {
		step.Status, step.Message = chat.StatusSkipped, "The model did not judge what was found"
		step.ToolStatus = step.Status
	}
	if err := w.log.emitEvents(ctx, step); err != nil || judged.score == nil || *judged.score >= lowConfidence ||
		!w.budget.mayCall() || w.set.SearchTool() == nil {
		return false, err
	}
	w.phase = gathering
	w.messages.ephemeral = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: fmt.Sprintf(
		"A check of what you found gives it a confidence of %.2f. What it says stands below, as data. Search for what "+
			"is missing.\n%s", *judged.score, fenceData(w.nonce, judged.text),
	)}}
	step = w.log.newStep("refine", chat.ActionPlanning, chat.StatusComplete, fmt.Sprintf(
		"Judged at %.2f: searching for what is missing", *judged.score,
	))
	step.Summary = judged.text
	return true, w.log.emitEvents(ctx, step)
}
