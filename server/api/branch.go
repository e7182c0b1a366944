package api

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// SetHead handles POST /sessions/{id}/head: it selects the version of an answer that a session shows. A form names
// any run of the version, and the newest branch with that is shown.
//
// The feed notifies other pages that show the conversation.
func (a *Sessions) SetHead(c httpio.Context) error {
	var body SessionHead
	if err := a.Bodies.ReadFields(c, &body); err != nil {
		return err
	}
	ctx, scope, id, head := c.Request().Context(), httpio.Scope(c), c.Param("id"), body.RunID
	if !httpio.RunIDForm().MatchString(head) {
		return httpio.NotFound("Run not found in this conversation.")
	}
	if httpio.FromPage(c) {
		runs, err := a.Store.Runs(ctx, scope, id)
		if err != nil {
			return err
		}
		head = newestUnder(runs, head)
	}
	if err := a.Store.SetHead(ctx, scope, id, head); err != nil {
		return err
	}
	a.Feed.HeadMoved(scope.User, id)
	if httpio.ByForm(c) {
		return c.Redirect(http.StatusSeeOther, "/c/"+id+"#turn-"+body.RunID)
	}
	return c.NoContent(http.StatusNoContent)
}

// newestUnder returns the end of the newest branch that contains a run.
//
// runs are in order of creation, so the last child is the newest.
func newestUnder(runs []chat.Run, id string) string {
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].ParentID == id {
			return newestUnder(runs, runs[i].ID)
		}
	}
	return id
}
