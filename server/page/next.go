package page

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/views"
)

// NextTurns answers the page's script when a run is over or another one is the newest: the turns of the shown branch
// that are not on the branch to ?after=, what still waits, and the question box. The page puts the turns behind the
// one that the first of them names: those that stood there belong to another version.
//
// 404 for a conversation that the user does not have. Turns whose rows are damaged are left out. When the shown branch
// ends before what the page has, its last turn is sent again, so that the page has one to cut behind.
func (h *Handlers) NextTurns(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	list, err := h.Store.Queue(ctx, scope, id)
	if err != nil {
		return err
	}
	session, err := h.Store.Session(ctx, scope, id)
	if err != nil {
		return err
	}
	runs, _, err := h.Logs.ReadableRuns(ctx, scope, session)
	if err != nil {
		return err
	}
	// What waits is always sent: a question that was begun has left it.
	parts := []templ.Component{views.Queue(id, list)}
	// ?after= may name a run of another version: what both branches share stays on the page.
	branch := runlog.BranchTo(runs, session.HeadID)
	seen := runlog.BranchTo(runs, c.QueryParam("after"))
	at := sharedRuns(branch, seen)
	if at == len(branch) && at < len(seen) { // it ends before what is seen
		at--
	}
	if news, _ := runlog.Readable(branch[at:]); len(news) > 0 {
		turns, _, err := h.foldTurns(ctx, scope, news, runs)
		if err != nil {
			return err
		}
		// The box needs another key now, or the next question would be taken for the one before.
		box := views.Composer{SessionID: id, Key: chat.NewID()}
		for _, t := range turns {
			parts = append(parts, views.TurnArticle(t))
			if t.Running() {
				box.RunID, box.Budget = t.RunID, t.Budget
			}
		}
		parts = append(parts, views.ComposerBar(box), views.ComposerUse(box))
	}
	return httpio.Show(c, http.StatusOK, templ.Join(parts...))
}

// sharedRuns returns how many runs two branches have in common, from the first question on.
func sharedRuns(a, b []chat.Run) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].ID == b[n].ID {
		n++
	}
	return n
}
