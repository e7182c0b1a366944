package api

import (
	"context"
	"errors"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
)

// Checker lets a language model check search results. Its zero value does not.
type Checker struct {
	// Check judges whether the first results answer a question.
	Check func(ctx context.Context, user, question string, found []corpus.Result) (CheckedResults, error)
	Most  int // maximum number of results that Check judges
	// Retrieved reports whether the results of POST /agent/retrieve are checked by default. It is set if Check is.
	Retrieved func() bool
}

// CheckedResults are search results with the verdicts of a language model.
type CheckedResults struct {
	Results []corpus.Result     // those with the answer first
	Hits    map[string]chat.Hit // the verdicts, by passage; unchecked results have none
	Step    *chat.Step          // the check, with its error if it failed; nil: no check
	Spent   chat.Spent
}

// afterCheck is the part of the request's timeout reserved for the response after a check.
const afterCheck = 2 * time.Second

// wanted returns the number of results to search for, so that a check can select the best.
func (a *Passages) wanted(body find.SearchQuery, limit int) int {
	if body.Check != nil && *body.Check {
		return max(limit, a.Checker.Most)
	}
	return limit
}

// checked returns the first results of a search, limited as in the query, with the verdicts of a language model if
// requested. A failed check adds a note.
func (a *Passages) checked(c httpio.Context, body find.SearchQuery, results []corpus.Result, limit int) (f found) {
	if body.Check == nil || !*body.Check || len(results) == 0 {
		f.results = find.PassagesOf(results)
		return f
	}
	checked, err := CheckedResults{Results: results}, error(nil)
	if a.Checker.Check != nil {
		ctx, cancel := c.Request().Context(), context.CancelFunc(func() {})
		if end, ok := ctx.Deadline(); ok {
			ctx, cancel = context.WithDeadline(ctx, end.Add(-afterCheck))
		}
		checked, err = a.Checker.Check(ctx, httpio.Scope(c).User, body.Query, results)
		cancel()
	}
	switch {
	case err != nil:
		checked.Results = results
		if !errors.Is(err, context.Canceled) {
			a.Log.ErrorContext(c.Request().Context(), "could not check search results", "error", err)
		}
		f.notes = []string{"The passages were not checked: " + chat.MessageOf(err).String()}
	case checked.Step == nil:
		f.notes = []string{"The passages were not checked: no language model is connected."}
	case checked.Step.Error != nil:
		f.notes = []string{checked.Step.Error.Message}
	}
	f.check, f.spent = checked.Step, checked.Spent
	f.results = find.PassagesOf(checked.Results[:min(limit, len(checked.Results))])
	for i, p := range f.results {
		if verdict, ok := checked.Hits[p.Metadata.ChunkID]; ok {
			f.results[i].Answers, f.results[i].Probability = &verdict.Answers, verdict.Score
		}
	}
	return f
}

// steps returns the steps of the search and the check, if any.
func (f found) steps() (steps []chat.Step) {
	for _, step := range []*chat.Step{f.search, f.check} {
		if step != nil {
			steps = append(steps, *step)
		}
	}
	return steps
}
