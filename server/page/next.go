package page

import (
	"net/http"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/views"
)

// NextTurns handles the page's script after a run ends or another becomes the newest. It returns the turns of the
// shown branch that are not on the branch to ?after=, the queue, and the question box. The page inserts the turns
// after the one that the first of them names and removes the turns of the other version.
//
// Damaged turns are left out. If the shown branch is a prefix of the page's, its last turn is sent again as the
// position to truncate after.
func (h *Handlers) NextTurns(c httpio.Context) error {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	list, err := h.Store.Queue(ctx, scope, id)
	if err != nil {
		return err
	}
	session, err := h.Logs.Branch(ctx, scope, id)
	if err != nil {
		return err
	}
	runs := session.All
	// The queue is always sent: a started question has left it.
	parts := []templ.Component{views.Queue(id, list)}
	// ?after= may be a run of another version: the common prefix of both branches stays on the page.
	branch := runlog.BranchTo(runs, session.HeadID)
	seen := runlog.BranchTo(runs, c.QueryParam("after"))
	at := sharedRuns(branch, seen)
	if at == len(branch) && at < len(seen) { // it is a prefix of the seen branch
		at--
	}
	if news, _ := runlog.Readable(branch[at:]); len(news) > 0 {
		turns, _, err := h.foldTurns(ctx, scope, news, runs)
		if err != nil {
			return err
		}
		// A new Idempotency-Key, or the next question would be treated as a retry of the last one.
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

// sharedRuns returns the length of the common prefix of two branches.
func sharedRuns(a, b []chat.Run) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].ID == b[n].ID {
		n++
	}
	return n
}
