package page

import (
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Stream handles GET /runs/{id}/stream: the run's events under the same names and numbers as in the log, rendered
// for the page. A reader that has all events gets the last one again, since the page's script reconnects after an
// unexpected end.
//
// A program that needs the log itself uses GET /agent/runs/{id}/events.
func (h *Handlers) Stream(c httpio.Context) error {
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	id := c.Param("id")
	frame, leave := h.drawn.joinRun(c.Request().Context(), httpio.Scope(c), id)
	defer leave()
	return h.Logs.Follow(c, id, after, runlog.Follower{Frame: frame, RepeatLast: true})
}
