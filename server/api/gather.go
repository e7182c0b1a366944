package api

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/find"
	"footnote/server/httpio"
)

// Gather is what is found when a model chooses how to search: passages, best first, the steps, and notes.
type Gather func(
	ctx context.Context, user string, req chat.RunRequest, most int,
) (results []corpus.Result, steps []chat.Step, notes []string, err error)

// gatherResults answers a query by the agent. ok is false when that can't serve: then the query is searched for
// plainly, and the steps and notes of res say what the agent did and why that is not all.
func (a *Handlers) gatherResults(
	c echo.Context, body find.SearchQuery, began time.Time,
) (res RetrieveResponse, ok bool, err error) {
	if a.Gatherer == nil || body.Mode != "" || body.MinScore != 0 ||
		body.Filters != nil && !body.Filters.OnlyDocuments() {
		return res, false, nil // it asks for a certain search
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
	found, steps, notes, err := a.Gatherer(c.Request().Context(), httpio.Scope(c).User, req, q.Limit)
	if chat.CodeOf(orNone(err)) == chat.CodeInvalid || chat.CodeOf(orNone(err)) == chat.CodeTooMany {
		return res, false, err
	}
	if err != nil {
		a.Log.WarnContext(c.Request().Context(), "the agent did not find passages", "error", err)
		notes = append(notes, "The agent failed: this is what a search found.")
	} else if len(found) == 0 {
		notes = append(notes, "The agent found nothing that fits: this is what a search found.")
	}
	ok = err == nil && len(found) > 0
	return newRetrieveResponse(
		body.Query, find.PassagesOf(found), "agentic", steps, notes, time.Since(began).Milliseconds(),
	), ok, nil
}

// orNone makes CodeOf usable for no error.
func orNone(err error) error {
	if err == nil {
		return &chat.Error{}
	}
	return err
}
