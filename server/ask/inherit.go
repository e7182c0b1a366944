package ask

import (
	"net/url"
	"slices"

	"github.com/footnote/footnote/server/httpio"
)

// inheritOptions sets the fields that a form omits. A question that replaces an earlier run inherits that run's
// request; a follow-up inherits the options of the preceding question. Fields of the form take precedence. If the
// session or the run does not exist, it does nothing: starting the new run then fails.
func (qs *Questions) inheritOptions(c httpio.Context, form url.Values, q *Question) {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	before := q.Sibling
	if before == "" && q.SessionID != "" &&
		!(form.Has("model") && form.Has("toolset") && form.Has("namespace") && form.Has("document_ids")) {
		session, err := qs.Store.Session(ctx, scope, q.SessionID)
		if err != nil {
			return
		}
		before = session.HeadID
	}
	if before == "" {
		return
	}
	run, err := qs.Store.Run(ctx, scope, before)
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
		if !form.Has("model") && !slices.Contains(qs.Models(), q.Config.Model) {
			q.Config.Model = "" // the earlier model is no longer available; the question box shows the default
		}
		return
	}
	model := q.Config.Model
	q.Config, q.History, q.Instructions, q.Style = old.Config, old.History, old.Instructions, old.CitationStyle
	q.Config.Model = model
	if q.ContextText == nil && old.ContextText != "" {
		q.ContextText = &old.ContextText
	}
	if old.AddedContext != "" {
		q.AddedContext = &old.AddedContext
	}
}
