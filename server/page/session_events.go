package page

import (
	"time"

	"github.com/footnote/footnote/server/httpio"
)

// checkPause is how long a stream of a session waits between two looks at the store, however often it is woken.
// It is a choice: a reader does not notice a second, and a store with many streams does.
const checkPause = time.Second

// SessionEvents answers GET /c/{id}/events: a "head" event with the id of the session's newest run of the shown
// branch, whenever that is not ?head= or what was told before. A page that shows the conversation in another tab asks
// for the new turns then. While nothing begins, the stream costs no look at the store.
//
// 404 before the stream is open for a conversation that the user does not have, 429 when no place for a stream is free.
func (h *Handlers) SessionEvents(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	ctx, scope, told := c.Request().Context(), httpio.Scope(c), c.QueryParam("head")
	wake, stop := h.Feed.WatchSession(scope.User, id) // before the first look, so that nothing falls between
	defer stop()
	news := wake()
	session, err := h.Store.Session(ctx, scope, id)
	if err != nil {
		return err
	}
	out, leave, err := h.Streams.Open(c)
	if out == nil {
		return err
	}
	defer leave()
	for {
		// Nothing is sent again that the page knows, so an open tab costs one comment in each heartbeat.
		if session.HeadID != told {
			told = session.HeadID
			if err := out.Send(httpio.AppendFrame(nil, 0, "head", []byte(told))); err != nil {
				return nil
			}
		}
		next := time.NewTimer(checkPause)
		if !httpio.Await(h.Streams, c, out, news) || !httpio.Await(h.Streams, c, out, next.C) {
			next.Stop()
			return nil
		}
		news = wake()
		if session, err = h.Store.Session(ctx, scope, id); err != nil {
			return err // deleted meanwhile: the stream just ends
		}
	}
}
