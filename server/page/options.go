package page

import (
	"context"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// maxNamespaces is the maximum number of namespaces in the question box.
const maxNamespaces = 200

// questionOptions returns the options of the question box, preset from the given question.
func (h *Handlers) questionOptions(ctx context.Context, scope chat.Scope, as ask.Question) (views.Options, error) {
	namespaces, err := h.Library.Namespaces(ctx, scope, maxNamespaces)
	return views.Options{
		Models: h.Models(), Toolsets: h.Toolsets, Namespaces: namespaces,
		Model: as.Config.Model, Toolset: as.Toolset, Namespace: as.Namespace,
	}, err
}

// questionOf returns the question of a request.
func questionOf(req chat.RunRequest) ask.Question {
	return ask.Question{
		DocumentIDs: req.DocumentIDs, Toolset: req.Toolset, Namespace: req.Namespace, Config: req.Config,
	}
}

// refused is a form's refused question, with the reason.
type refused struct {
	ask.Question
	why httpio.Problem
}

// refusedPage renders the page of a form whose question was refused, with its text and options still in the box.
//
// The status is that of the problem. For a deleted conversation it is the first page.
func (h *Handlers) refusedPage(c httpio.Context, p httpio.Problem, q ask.Question) error {
	no := &refused{Question: q, why: p}
	if chat.CheckSessionID(q.SessionID) == nil {
		// The conversation may be the reason for the refusal; then its page can't be rendered either.
		err := h.showSession(c, p.Status, q.SessionID, no)
		if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
	}
	return h.showStart(c, p.Status, no)
}

// showRefused renders the page of a refused question and reports whether the request was one.
//
// A form without a key is excluded: signing in is first, and keptFields carries the question.
func (h *Handlers) showRefused(c httpio.Context, p httpio.Problem) bool {
	q, ok := ask.StashedQuestion(c)
	if !ok || p.Status == http.StatusUnauthorized {
		return false
	}
	err := h.refusedPage(c, p, q)
	return err == nil || httpio.Committed(c)
}

// fillComposer sets a refused question in its box.
func (no *refused) fillComposer(box *views.Composer) {
	if no != nil {
		box.Draft, box.Asked, box.Refused = no.Message, true, views.Refusal{Detail: no.why.Detail, Code: no.why.Code}
	}
}
