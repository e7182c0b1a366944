package server

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/httpio"
	"footnote/views"
)

// maxNamespaces is how many namespaces the question box offers.
const maxNamespaces = 200

// options offers what a question can be asked with, as the given one was.
func (s *Server) options(ctx context.Context, scope chat.Scope, as question) (views.Options, error) {
	namespaces, err := s.library.Namespaces(ctx, scope, maxNamespaces)
	return views.Options{
		Models: s.cfg.Models, Toolsets: s.cfg.Toolsets, Namespaces: namespaces,
		Model: as.Config.Model, Toolset: as.Toolset, Namespace: as.Namespace,
	}, err
}

// questionOf is what was asked with a request.
func questionOf(req chat.RunRequest) question {
	return question{DocumentIDs: req.DocumentIDs, Toolset: req.Toolset, Namespace: req.Namespace, Config: req.Config}
}

// keepOn has a form's question go on as the conversation did: one that takes a run's place is asked with all that the run was made from, and a
// follow-up with the options of the question before it. What the form itself names goes first. A conversation or a run that is not there is
// for the start of the run to refuse.
func (s *Server) keepOn(c echo.Context, form url.Values, q *question) {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	before := q.Sibling
	if before == "" && q.SessionID != "" && !(form.Has("model") && form.Has("toolset") && form.Has("namespace") && form.Has("document_ids")) {
		session, err := s.store.Session(ctx, scope, q.SessionID)
		if err != nil {
			return
		}
		before = session.HeadID
	}
	if before == "" {
		return
	}
	run, err := s.store.Run(ctx, scope, before)
	if err != nil {
		return
	}
	old := run.Request
	if !form.Has("toolset") {
		q.Toolset = old.Toolset
	}
	if !form.Has("namespace") {
		q.Namespace = old.Namespace
	}
	if !form.Has("model") {
		q.Config.Model = old.Config.Model
	}
	if !form.Has("document_ids") {
		q.DocumentIDs = old.DocumentIDs
	}
	if q.Sibling == "" {
		if len(s.cfg.Models) > 0 && !form.Has("model") && !slices.Contains(s.cfg.Models, q.Config.Model) {
			q.Config.Model = "" // as the question box shows it: the earlier question's is no longer offered
		}
		return
	}
	model := q.Config.Model
	q.Config, q.history, q.instructions, q.style = old.Config, old.History, old.Instructions, citationStyle(old.CitationStyle)
	q.Config.Model = model
	if q.ContextText == nil && old.ContextText != "" {
		q.ContextText = &old.ContextText
	}
	if old.AddedContext != "" {
		q.addedContext = &old.AddedContext
	}
}

// refused is a question of a form that was not taken, and why.
type refused struct {
	question
	why httpio.Problem
}

// refusedKey is where the question of a form waits in the request's context, for the page that says why it was not taken.
const refusedKey = "question"

// refusedPage answers a form whose question was not taken with the page it came from: the words and what was chosen are still in the box.
func (s *Server) refusedPage(c echo.Context, p httpio.Problem, q question) error {
	no := &refused{question: q, why: p}
	if chat.CheckSessionID(q.SessionID) == nil {
		err := s.showSession(c, p.Status, q.SessionID, no)
		if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
	}
	return s.showStart(c, p.Status, no)
}

// showRefused reports whether a request was such a form and its page was drawn.
func (s *Server) showRefused(c echo.Context, p httpio.Problem) bool {
	q, ok := c.Get(refusedKey).(question)
	if !ok || p.Status == http.StatusUnauthorized {
		return false
	}
	err := s.refusedPage(c, p, q)
	return err == nil || c.Response().Committed
}

// fill puts a refused question back into its box.
func (no *refused) fill(box *views.Composer) {
	if no != nil {
		box.Draft, box.Asked, box.Refused = no.Message, true, views.Refusal{Detail: no.why.Detail, Code: no.why.Code}
	}
}
