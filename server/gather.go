package server

import (
	"context"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/httpio"
)

// gathering is what is found when a model chooses how to search: passages, best first, the steps, and notes.
type gathering func(ctx context.Context, user string, req chat.RunRequest, most int) (results []corpus.Result, steps []chat.Step, notes []string, err error)

// gather answers a query by the agent. ok is false when that can't serve: then the query is searched for plainly, and the steps and notes of
// res say what the agent did and why that is not all.
func (s *Server) gather(c echo.Context, body searchQuery, began time.Time) (res retrieveResponse, ok bool, err error) {
	if s.cfg.Gather == nil || body.Mode != "" || body.MinScore != 0 || body.Filters != nil && !body.Filters.onlyDocuments() {
		return res, false, nil // it asks for a certain search
	}
	q, err := s.corpusQuery(body)
	if err != nil {
		return res, false, err
	}
	if err := s.library.CheckNamed(c.Request().Context(), httpio.Scope(c), body.Namespace, q.Documents); err != nil {
		return res, false, err
	}
	rerank := body.Rerank
	req := chat.RunRequest{Message: q.Text, Namespace: body.Namespace, DocumentIDs: q.Documents, Config: chat.RunConfig{RerankResults: &rerank}}
	found, steps, notes, err := s.cfg.Gather(c.Request().Context(), httpio.Scope(c).User, req, q.Limit)
	if chat.CodeOf(orNone(err)) == chat.CodeInvalid || chat.CodeOf(orNone(err)) == chat.CodeTooMany {
		return res, false, err
	}
	if err != nil {
		s.log.WarnContext(c.Request().Context(), "the agent did not find passages", "error", err)
		notes = append(notes, "The agent failed: this is what a search found.")
	} else if len(found) == 0 {
		notes = append(notes, "The agent found nothing that fits: this is what a search found.")
	}
	ok = err == nil && len(found) > 0
	return newRetrieveResponse(body.Query, passagesOf(found), "agentic", steps, notes, time.Since(began).Milliseconds()), ok, nil
}

func orNone(err error) error {
	if err == nil {
		return &chat.Error{}
	}
	return err
}

// onlyDocuments reports whether a filter names documents and nothing else.
func (f searchFilters) onlyDocuments() bool {
	return f.Title == "" && f.MIME == "" && len(f.Meta) == 0 && f.Year == "" && f.DateFrom == "" && f.DateTo == "" && f.AddedAfter.IsZero() && f.AddedBefore.IsZero()
}

// hitURL opens the viewer at a passage, on the page of its best words.
func hitURL(r corpus.Result) string {
	link := chat.Link{Document: r.Document.ID, Passage: r.Passage.ID}
	if r.Page > r.Passage.Page {
		link.Page = r.Page
	}
	return link.String()
}

// passagesOf describes what was found, in its order.
func passagesOf(found []corpus.Result) []searchResult {
	out := make([]searchResult, 0, len(found))
	for i, r := range found {
		p, d := r.Passage, r.Document
		out = append(out, searchResult{Text: p.Text, Score: r.Score, Rank: i + 1, Metadata: searchMetadata{
			ChunkID: p.ID, DocumentID: d.ID, Title: d.Title, Filename: d.Filename, Section: p.Section, Page: r.Page,
			Start: p.Start, End: p.End, URL: hitURL(r),
		}})
	}
	return out
}
