package api

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// StreamEvents handles GET /agent/runs/{id}/events.
//
// It streams the log to programs, with the answer in the citation style of its question. The run is read for that
// only when the answer event arrives. See runlog.Reader.Follow for the resumption of a stream.
func (a *Handlers) StreamEvents(c httpio.Context) error {
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	id, err := httpio.RunID(c)
	if err != nil {
		return err
	}
	ctx, scope, base := c.Request().Context(), httpio.Scope(c), httpio.Origin(c)
	return a.Logs.Follow(c, id, after, runlog.Follower{Frame: func(dst []byte, entry *chat.Entry) ([]byte, error) {
		if entry.Type != chat.KindAnswer {
			return runlog.ProgramFrame(dst, entry)
		}
		run, err := a.Store.Run(ctx, scope, id)
		if err != nil {
			return dst, err
		}
		return runlog.CitationStyle(run.Request.CitationStyle).Frame(base)(dst, entry)
	}})
}
