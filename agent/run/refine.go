package run

import (
	"context"
	"slices"
	"strings"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/chat"
	"footnote/corpus"
	"footnote/corpus/text"
	"footnote/llm"
)

// refine searches once in other words when nothing was found so far.
func (w *Runner) refine(ctx context.Context) error {
	tool := w.set.SearchTool()
	if w.refined || w.onFallback || tool == nil || !w.enabled(featureRefine) || !w.toolContext.Sources.IsEmpty() {
		return nil
	}
	_, _, empty, searches := w.toolContext.Sources.Readings()
	if searches == 0 || len(empty) == 0 || !w.mayCall() {
		return nil
	}
	other := otherWords(w.asked, empty)
	if other == "" {
		return nil
	}
	w.refined = true
	call, ok := w.call(tool.Name, map[string]any{"query": other}, 0)
	if !ok {
		return nil
	}
	step := w.newStep("refine", chat.ActionPlanning, chat.StatusComplete, "Nothing found: trying other words")
	step.Summary, step.Details = other, map[string]any{"tried": empty, "query": other}
	if err := w.emit(ctx, step); err != nil {
		return err
	}
	return w.makeCalls(
		ctx, []llm.Call{call}, "Nothing was found for “"+strings.Join(empty, "”, “")+"”: trying other words.",
	)
}

// otherWords is another wording of a question than those tried: its content words, then those of them that say most.
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
func (w *Runner) stopEarly(ctx context.Context) (bool, error) {
	if !w.enabled(featureEarlyStop) || w.asked.Complexity != "simple" || w.plan != nil || !w.suffices() {
		return false, nil
	}
	w.enough = true
	step := w.newStep("enough", chat.ActionAnalysing, chat.StatusComplete, "What was found suffices: stopped early")
	return true, w.emit(ctx, step)
}

// suffices reports whether a passage that was found holds every content word of the question.
func (w *Runner) suffices() bool {
	query := strings.Join(w.asked.Keywords, " ")
	language := text.Detect(w.run.Request.Message)
	if language == "" {
		language = "en"
	}
	words := text.QueryWords(query, []string{language})
	if len(words) < 2 {
		return false
	}
	return slices.ContainsFunc(w.toolContext.Sources.All(), func(s ground.Source) bool {
		return corpus.ShareOfWords(words, corpus.Result{Passage: s.Passage, Document: s.Document}) == 1
	})
}

// rescue searches and reads for a model that does not get its tools to work, once: the fixed pipeline.
func (w *Runner) rescue(ctx context.Context) (bool, error) {
	tool := w.set.SearchTool()
	if w.rescued || w.onFallback || w.givenText() || tool == nil || w.cfg.Thinking.NoRescue ||
		!w.asked.NeedsDocuments() || !w.toolContext.Sources.IsEmpty() ||
		w.retrievals >= w.budget.RetrievalCalls || w.control.now.Err() != nil || w.late() {
		return false, nil
	}
	w.rescued, w.direct = true, true
	step := w.newStep(
		"choose", chat.ActionPlanning, chat.StatusComplete,
		"The model did not use its tools: searching by the fixed pipeline",
	)
	step.Details = map[string]any{"selection": w.selection(), "by": "pipeline", "tools": []string{tool.Name}}
	if err := w.takeBack(ctx, step); err != nil {
		return false, err
	}
	stop, steps := w.stop, w.budget.Steps
	w.stop, w.budget.Steps = "", w.turns+1 // the program's own calls are no turns of the model
	defer func() { w.stop, w.budget.Steps = stop, steps }()
	w.badTurns, w.cutTurns = 0, 0
	call, ok := w.call(tool.Name, map[string]any{"query": w.searchWords()}, 0)
	if !ok {
		return false, nil
	}
	return true, w.carryOut(ctx, choice{opening: []llm.Call{call}, read: true, why: "By the fixed pipeline."})
}
