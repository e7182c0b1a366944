package api

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/corpus"
	"footnote/server/httpio"
)

// DocumentEvents answers GET /documents/{id}/events: a "document" event with the document as JSON at each change of
// its state or progress, and a "document_done" event, the last, when it is ready, failed or cancelled. A reader that
// comes back gets the present state first.
func (a *Handlers) DocumentEvents(c echo.Context) error {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	d, changed, err := a.Library.Watch(ctx, scope, id)
	if err != nil {
		return err
	}
	if httpio.IsHead(c.Request()) {
		httpio.SetStreamHeaders(c.Response().Header())
		return c.NoContent(http.StatusOK)
	}
	if err := a.Streams.Enter(scope.User); err != nil {
		return err
	}
	defer a.Streams.Leave(scope.User)
	out, err := httpio.NewEventStream(c.Response())
	if err != nil {
		return nil // the reader has left
	}
	heartbeat := time.NewTimer(a.Streams.Heartbeat)
	defer heartbeat.Stop()
	for {
		frame, err := documentFrame(d)
		if err != nil {
			return err
		}
		if err := out.Send(frame); err != nil || finished(d) {
			return nil
		}
		for waiting := true; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-heartbeat.C:
				if err := out.Comment("still here"); err != nil {
					return nil
				}
			case <-ctx.Done():
				return nil
			case <-a.Streams.Draining:
				_ = out.Retry(httpio.RetryAfterDrain) // best effort: a reader without it comes back on its own
				return nil
			}
			heartbeat.Reset(a.Streams.Heartbeat)
		}
		if d, changed, err = a.Library.Watch(ctx, scope, id); err != nil {
			return err // deleted meanwhile: the stream just ends
		}
	}
}

func documentFrame(d corpus.Document) ([]byte, error) {
	body, err := json.Marshal(newDocumentInfo(d))
	if err != nil {
		return nil, err
	}
	event := "document"
	if finished(d) {
		event = "document_done"
	}
	return httpio.AppendFrame(nil, 0, event, body), nil
}
