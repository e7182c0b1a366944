package api

import (
	"context"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/find"
	"footnote/server/httpio"
)

// CheckResults has a language model judge whether the first results of a search answer a question.
type CheckResults func(ctx context.Context, user, question string, found []corpus.Result) (CheckedResults, error)

// CheckedResults are results of a search with the verdicts of a language model.
type CheckedResults struct {
	Results []corpus.Result     // those that answer first
	Hits    map[string]chat.Hit // the verdicts, by passage; results that were not judged have none
	Step    *chat.Step          // the check, with an error if it failed; nil: nothing was checked
	Spent   chat.Spent
}

// checked describes results of a search, with the verdicts of a language model where the query asks for them. Its steps
// are that of the check. Notes explain a check that failed.
func (a *Handlers) checked(c httpio.Context, body find.SearchQuery, results []corpus.Result) (f found, err error) {
	if body.Check == nil || !*body.Check || len(results) == 0 {
		f.results = find.PassagesOf(results)
		return f, nil
	}
	checked := CheckedResults{Results: results}
	if a.CheckResults != nil {
		checked, err = a.CheckResults(c.Request().Context(), httpio.Scope(c).User, body.Query, results)
	}
	switch {
	case chat.CodeOf(orNone(err)) == chat.CodeTooMany:
		return found{}, err
	case err != nil:
		a.Log.ErrorContext(c.Request().Context(), "results of a search were not checked", "error", err)
		f.notes = []string{"The passages were not checked: " + chat.MessageOf(err)}
	case checked.Step == nil:
		f.notes = []string{"There is no language model to check passages with."}
	case checked.Step.Error != nil:
		f.notes = []string{checked.Step.Error.Message}
	}
	if checked.Step != nil {
		f.steps = []chat.Step{*checked.Step}
	}
	f.results, f.spent = find.PassagesOf(checked.Results), checked.Spent
	for i, p := range f.results {
		if verdict, ok := checked.Hits[p.Metadata.ChunkID]; ok {
			f.results[i].Answers, f.results[i].Probability = &verdict.Answers, verdict.Score
		}
	}
	return f, nil
}
