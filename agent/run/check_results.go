package run

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// CheckedResults are results of a search that a language model has judged.
type CheckedResults struct {
	Results []corpus.Result     // those that answer first, the likelier before the others
	Hits    map[string]chat.Hit // the verdicts, by passage: the first tools.MaxChecked results have one
	Step    *chat.Step          // of the check, with an error if it failed. nil: nothing was checked
	Spent   chat.Spent
}

// CheckResults has the language model of a run judge whether each of the first results of a search answers the run's
// question. Nothing is stored. Without a language model nothing is checked, and when that fails there are no verdicts.
func (e *Engine) CheckResults(ctx context.Context, run chat.Run, found []corpus.Result) (CheckedResults, error) {
	out := CheckedResults{Results: slices.Clone(found), Hits: map[string]chat.Hit{}}
	_, set, err := e.CheckRequest(run.Request)
	if err != nil {
		return out, err
	}
	set.Tools = []*tools.Tool{e.Registry.Find(tools.CheckPassages)}
	ctx, c := NewControl(ctx, run.User)
	w := e.NewRunner(run, set, c)
	defer w.Wait()
	defer c.Close()
	if w.model.judge == nil {
		return out, nil
	}
	var steps []chat.Step
	w.collectSteps(&steps)
	var quotes []map[string]any
	for _, hit := range found[:min(len(found), tools.MaxChecked)] {
		quotes = append(quotes, map[string]any{
			"n": w.toolContext.Sources.Number(hit.Passage, hit.Document), "words": wordsAround(hit),
		})
	}
	call, ok := w.calls.checkCall(quotes)
	if !ok {
		return out, nil
	}
	err = w.calls.makeCalls(ctx, []llm.Call{call}, "")
	out.Spent = chat.Spent{Tokens: w.budget.tokens, Cost: w.budget.cost}
	e.stats.countGathered(&w.budget)
	if err != nil || len(steps) == 0 {
		return out, err
	}
	out.Step = &steps[0]
	out.Step.CallID = "check-1" // an agent that gathered has made calls with the other names
	if out.Step.Status != chat.StatusComplete || out.Step.Result == nil {
		return out, nil
	}
	for _, hit := range out.Step.Result.Hits {
		out.Hits[hit.ChunkID] = hit
	}
	likelihood := func(hit corpus.Result) float64 {
		verdict := out.Hits[hit.Passage.ID]
		switch {
		case !verdict.Answers:
			return 0
		case verdict.Score == nil:
			return 1
		}
		return *verdict.Score
	}
	slices.SortStableFunc(out.Results, func(a, b corpus.Result) int {
		return cmp.Compare(likelihood(b), likelihood(a))
	})
	return out, nil
}

// wordsAround returns what of a result is checked: as much as a check reads around the best words of its passage.
func wordsAround(hit corpus.Result) string {
	runes := []rune(hit.Passage.Text)
	middle := (hit.Snippet.Start + hit.Snippet.End) / 2
	from := max(0, min(middle-tools.MaxCheckedRunes/2, len(runes)-tools.MaxCheckedRunes))
	words := string(runes[from:min(len(runes), from+tools.MaxCheckedRunes)])
	if _, rest, cut := strings.Cut(words, " "); cut && from > 0 {
		return rest // it began within a word
	}
	return words
}
