package api

import (
	"context"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/find"
	"github.com/footnote/footnote/server/httpio"
)

// Gather lets a model choose the searches. With an error it returns the results so far.
//
// user is the owner of the documents, most the number of passages wanted. Its timeout is ctx's deadline.
type Gather func(ctx context.Context, user string, req chat.RunRequest, most int) (Gathered, error)

// Gathered is the result of a Gather.
type Gathered struct {
	Results []corpus.Result // best first
	Steps   []chat.Step
	Notes   []string
	Spent   chat.Spent
}

// gatherResults answers a query by the agent. ok is false if it can't: the query is then searched as a fallback, and
// the steps and notes of res report the agent's work and its failure.
//
// A query with a mode, a minimum score, or filters other than documents is always searched directly. Limits and an
// invalid query are errors in any case: the fallback must not bypass them.
func (a *Passages) gatherResults(
	c httpio.Context, body find.SearchQuery, began time.Time,
) (res RetrieveResponse, ok bool, err error) {
	if a.Gatherer == nil || body.Mode != "" || body.MinScore != 0 ||
		body.Filters != nil && !body.Filters.OnlyDocuments() {
		return res, false, nil // the request determines the search
	}
	q, err := a.Searcher.Query(body)
	if err != nil {
		return res, false, err
	}
	if err := a.Library.CheckNamed(c.Request().Context(), httpio.Scope(c), body.Namespace, q.Documents); err != nil {
		return res, false, err
	}
	rerank := body.Rerank
	req := chat.RunRequest{Message: q.Text, Namespace: body.Namespace, DocumentIDs: q.Documents, Config: chat.RunConfig{
		RerankResults: &rerank,
	}}
	found, err := a.Gatherer(c.Request().Context(), httpio.Scope(c).User, req, a.wanted(body, q.Limit))
	switch code := chat.CodeOf(orNone(err)); {
	case code == chat.CodeInvalid, code == chat.CodeTooMany, err != nil && a.GatherAlone:
		return res, false, err
	}
	if err != nil {
		a.Log.ErrorContext(c.Request().Context(), "the agent found no passages", "error", err)
		found.Notes = append(found.Notes, "The agent failed: these are the results of a plain search.")
	} else if len(found.Results) == 0 {
		found.Notes = append(found.Notes, "The agent found no passages: these are the results of a plain search.")
	}
	if ok = err == nil && len(found.Results) > 0; !ok {
		return newRetrieveResponse(
			body.Query, nil, "agentic", found.Steps, found.Spent, found.Notes, time.Since(began).Milliseconds(),
		), false, nil
	}
	checked := a.checked(c, body, found.Results, q.Limit)
	return newRetrieveResponse(
		body.Query, checked.results, "agentic", append(found.Steps, checked.steps()...), found.Spent.And(checked.spent),
		append(found.Notes, checked.notes...), time.Since(began).Milliseconds(),
	), true, nil
}

// orNone returns err, or an error without a code for nil, for CodeOf.
func orNone(err error) error {
	if err == nil {
		return &chat.Error{}
	}
	return err
}
