package page

import (
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Stream answers GET /runs/{id}/stream: the run's events under the same names and numbers as the log, drawn for the
// page. A reader that has them all gets the last one again, because the page's script comes back after an end it did
// not expect.
//
// 404 for a run that the user does not have, 429 when no place for a stream is free. A program that wants the log
// itself takes GET /agent/runs/{id}/events.
func (h *Handlers) Stream(c httpio.Context) error {
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	id, err := httpio.RunID(c)
	if err != nil {
		return err
	}
	frame, leave := h.drawn.joinRun(c.Request().Context(), httpio.Scope(c), id)
	defer leave()
	return h.Logs.Follow(c, id, after, runlog.Follower{Frame: frame, RepeatLast: true})
}
