package page

import (
	"context"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// maxNamespaces is how many namespaces the question box offers.
// It is a choice.
const maxNamespaces = 200

// questionOptions offers what a question can be asked with, as the given one was.
func (h *Handlers) questionOptions(ctx context.Context, scope chat.Scope, as ask.Question) (views.Options, error) {
	namespaces, err := h.Library.Namespaces(ctx, scope, maxNamespaces)
	return views.Options{
		Models: h.Models(), Toolsets: h.Toolsets, Namespaces: namespaces,
		Model: as.Config.Model, Toolset: as.Toolset, Namespace: as.Namespace,
	}, err
}

// questionOf is what was asked with a request.
func questionOf(req chat.RunRequest) ask.Question {
	return ask.Question{
		DocumentIDs: req.DocumentIDs, Toolset: req.Toolset, Namespace: req.Namespace, Config: req.Config,
	}
}

// refused is a question of a form that was not taken, and why.
type refused struct {
	ask.Question
	why httpio.Problem
}

// refusedPage answers a form whose question was not taken with the page it came from: the words and what was chosen
// are still in the box.
//
// The status is that of the problem. A question for a conversation that is gone is shown on the first page.
func (h *Handlers) refusedPage(c httpio.Context, p httpio.Problem, q ask.Question) error {
	no := &refused{Question: q, why: p}
	if chat.CheckSessionID(q.SessionID) == nil {
		// Its conversation may be the reason why it was refused; then its page can't be drawn either.
		err := h.showSession(c, p.Status, q.SessionID, no)
		if err == nil || chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
	}
	return h.showStart(c, p.Status, no)
}

// showRefused reports whether a request was such a form and its page was drawn.
//
// A form without a key is not one of these: signing in comes first, and keptFields carries the question.
func (h *Handlers) showRefused(c httpio.Context, p httpio.Problem) bool {
	q, ok := ask.StashedQuestion(c)
	if !ok || p.Status == http.StatusUnauthorized {
		return false
	}
	err := h.refusedPage(c, p, q)
	return err == nil || httpio.Committed(c)
}

// fillComposer puts a refused question back into its box.
func (no *refused) fillComposer(box *views.Composer) {
	if no != nil {
		box.Draft, box.Asked, box.Refused = no.Message, true, views.Refusal{Detail: no.why.Detail, Code: no.why.Code}
	}
}
