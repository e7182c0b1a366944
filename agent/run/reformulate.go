package run

import (
	"context"
	"slices"
	"strings"

	"footnote/agent/question"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// reformulateQuery searches once in other words when nothing was found so far. It happens at most once in a run, before
// the model hears that nothing was found, and is a step of its own.
func (s *toolSelector) reformulateQuery(ctx context.Context) error {
	tool := s.set.SearchTool()
	if s.remedies[reformulation] || s.model.isRuleBased() || tool == nil || !s.isEnabled(featureRefine) ||
		!s.toolContext.Sources.IsEmpty() {
		return nil
	}
	_, _, empty, searches := s.toolContext.Sources.Readings()
	if searches == 0 || len(empty) == 0 || !s.budget.mayCall() {
		return nil
	}
	other := otherWords(s.asked, empty)
	if other == "" {
		return nil
	}
	s.remedies[reformulation] = true
	call, ok := s.calls.programCall(tool.Name, map[string]any{"query": other}, 0)
	if !ok {
		return nil
	}
	step := s.log.newStep("refine", chat.ActionPlanning, chat.StatusComplete, "Nothing found: trying other words")
	step.Summary, step.Details = other, map[string]any{"tried": empty, "query": other}
	if err := s.log.emitEvents(ctx, step); err != nil {
		return err
	}
	return s.calls.makeCalls(
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
func (s *toolSelector) stopEarly(ctx context.Context) (bool, error) {
	if !s.isEnabled(featureEarlyStop) || s.asked.Complexity != "simple" || s.plan.hasParts() ||
		!s.found.onePassageSuffices() {
		return false, nil
	}
	s.model.answerNext()
	step := s.log.newStep("enough", chat.ActionAnalysing, chat.StatusComplete, "What was found suffices: stopped early")
	return true, s.log.emitEvents(ctx, step)
}

// fallBackToPipeline searches and reads for a model that does not get its tools to work, once: the fixed pipeline. The
// budgets that stopped the model do not stop these calls: one more step is allowed for them, and both are put back
// afterwards. It does nothing once passages were shown, without time, or when the settings say so.
func (s *toolSelector) fallBackToPipeline(ctx context.Context) (bool, error) {
	tool := s.set.SearchTool()
	if s.remedies[pipelineRun] || s.model.isRuleBased() || s.givenText() || tool == nil || s.cfg.Features.NoRescue ||
		!s.asked.NeedsDocuments() || !s.toolContext.Sources.IsEmpty() ||
		s.budget.retrievals >= s.budget.limits.RetrievalCalls || s.control.now.Err() != nil || s.budget.isLate() {
		return false, nil
	}
	s.remedies[pipelineRun], s.model.phase = true, answeringPreselected
	step := s.log.newStep(
		"choose", chat.ActionPlanning, chat.StatusComplete,
		"The model did not use its tools: searching by the fixed pipeline",
	)
	step.Details = map[string]any{"selection": s.model.toolSelection(), "by": "pipeline", "tools": []string{tool.Name}}
	if err := s.log.takeAnswerBack(ctx, step); err != nil {
		return false, err
	}
	stop, steps := s.budget.stop, s.budget.limits.Steps
	s.budget.stop, s.budget.limits.Steps = "", s.budget.turns+1 // the program's own calls are no turns of the model
	defer func() { s.budget.stop, s.budget.limits.Steps = stop, steps }()
	s.budget.badTurns, s.budget.cutTurns = 0, 0
	call, ok := s.calls.programCall(tool.Name, map[string]any{"query": s.searchWords()}, 0)
	if !ok {
		return false, nil
	}
	return true, s.makeChosenCalls(ctx, choice{opening: []llm.Call{call}, read: true, why: "By the fixed pipeline."})
}
