package run

import (
	"context"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// reformulateQuery searches once in other words when nothing was found so far. It happens at most once in a run, before
// the model hears that nothing was found, and is a step of its own. It costs a search and no turn: a model that hears
// “nothing found” spends a turn to do the same.
func (w *Runner) reformulateQuery(ctx context.Context) error {
	tool := w.set.SearchTool()
	if w.remedies[reformulation] || w.model.isRuleBased() || tool == nil || !w.isEnabled(featureRefine) ||
		!w.toolContext.Sources.IsEmpty() {
		return nil
	}
	_, _, empty, searches := w.toolContext.Sources.Readings()
	if searches == 0 || len(empty) == 0 || !w.budget.mayCall() {
		return nil
	}
	other := otherWords(w.asked, empty)
	if other == "" {
		return nil
	}
	w.remedies[reformulation] = true
	call, ok := w.calls.programCall(tool.Name, map[string]any{"query": other}, 0)
	if !ok {
		return nil
	}
	step := w.log.newStep("refine", chat.ActionPlanning, chat.StatusComplete, "Nothing found: trying other words")
	step.Summary, step.Details = other, map[string]any{"tried": empty, "query": other}
	if err := w.log.emitEvents(ctx, step); err != nil {
		return err
	}
	return w.calls.makeCalls(
		ctx, []llm.Call{call}, "Nothing was found for “"+strings.Join(empty, "”, “")+"”: trying other words.",
	)
}

// otherWords is another wording of a question than those tried: its content words, then those of them that say most.
// The longest half of the words stands for those that say most: long words are rarer. Empty: every wording was tried.
func otherWords(a question.Analysis, tried []string) string {
	most := slices.Clone(a.Keywords)
	slices.SortStableFunc(most, func(x, y string) int { return len(y) - len(x) })
	for _, words := range [][]string{a.Keywords, a.Entities, most[:(len(most)+1)/2]} {
		query := strings.Join(words, " ")
		if query != "" && !slices.ContainsFunc(tried, func(t string) bool { return sameWords(t, query) }) {
			return text.Shorten(query, 1000)
		}
	}
	return ""
}

// sameWords reports whether two queries have the same content words.
func sameWords(a, b string) bool {
	x, y := question.Keywords(a), question.Keywords(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// stopEarly reports, and says, that one passage holds all that the question is about: no more is read or searched.
// Parts of a plan are not one passage's to answer, so it never ends a plan.
func (w *Runner) stopEarly(ctx context.Context) (bool, error) {
	if !w.isEnabled(featureEarlyStop) || w.asked.Complexity != "simple" || w.plan.hasParts() ||
		!w.onePassageSuffices() {
		return false, nil
	}
	w.answerNext()
	step := w.log.newStep("enough", chat.ActionAnalysing, chat.StatusComplete, "What was found suffices: stopped early")
	return true, w.log.emitEvents(ctx, step)
}

// fallBackToPipeline searches and reads for a model that does not get its tools to work, once: the fixed pipeline. The
// search is by meaning, with the threshold of the settings, where the toolset has one. The budgets that stopped the
// model do not stop these calls: one more step is allowed for them, and both are put back afterwards. It does nothing
// once passages were shown, without time, or when the settings say so. It reports whether it searched; then the model's
// next turn is the answer.
func (w *Runner) fallBackToPipeline(ctx context.Context) (bool, error) {
	call, ok := w.calls.programCall(
		"semantic_search", map[string]any{"query": w.searchWords(), "min_score": w.cfg.Features.FallbackScore}, 0,
	)
	if !ok {
		call, ok = w.searchCall(0)
	}
	if w.remedies[pipelineRun] || w.model.isRuleBased() || w.givenText() || !ok || w.cfg.Features.NoRescue ||
		!w.asked.NeedsDocuments() || !w.toolContext.Sources.IsEmpty() ||
		w.budget.retrievals >= w.budget.limits.RetrievalCalls || w.control.now.Err() != nil || w.budget.isLate() {
		return false, nil
	}
	w.remedies[pipelineRun], w.phase = true, answeringPreselected
	step := w.log.newStep(
		"choose", chat.ActionPlanning, chat.StatusComplete,
		"The model did not use its tools: searching by the fixed pipeline",
	)
	step.Details = map[string]any{"selection": w.model.toolSelection(), "by": "pipeline", "tools": []string{call.Name}}
	if err := w.log.takeAnswerBack(ctx, step); err != nil {
		return false, err
	}
	stop, steps := w.budget.stop, w.budget.limits.Steps
	w.budget.stop, w.budget.limits.Steps = "", w.budget.turns+1 // the program's own calls are no turns of the model
	defer func() { w.budget.stop, w.budget.limits.Steps = stop, steps }()
	w.budget.badTurns, w.budget.cutTurns = 0, 0
	return true, w.makeChosenCalls(ctx, choice{opening: []llm.Call{call}, read: true, why: "By the fixed pipeline."})
}
