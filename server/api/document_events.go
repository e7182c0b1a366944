package api

import (
	"encoding/json"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
)

// DocumentEvents answers GET /documents/{id}/events: a "document" event with the document as JSON at each change of
// its state or progress, and a "document_done" event, the last, when it is ready, failed or cancelled. A reader that
// comes back gets the present state first.
//
// It fails before the stream is open with 404 for a document that the user does not have, and 429 when no place for a
// stream is free. Its events have no ids, since there is nothing to go on after.
func (a *Handlers) DocumentEvents(c httpio.Context) error {
	ctx, scope, id := c.Request().Context(), httpio.Scope(c), c.Param("id")
	d, changed, err := a.Library.Watch(ctx, scope, id)
	if err != nil {
		return err
	}
	out, leave, err := a.Streams.Open(c)
	if out == nil {
		return err
	}
	defer leave()
	for {
		frame, err := documentFrame(d)
		if err != nil {
			return err
		}
		if err := out.Send(frame); err != nil || isFinished(d) {
			return nil
		}
		if !httpio.Await(a.Streams, c, out, changed) {
			return nil
		}
		if d, changed, err = a.Library.Watch(ctx, scope, id); err != nil {
			return err // deleted meanwhile: the stream just ends
		}
	}
}

// documentFrame is a document's state as an event; document_done is the last one.
func documentFrame(d corpus.Document) ([]byte, error) {
	body, err := json.Marshal(newDocumentInfo(d))
	if err != nil {
		return nil, err
	}
	event := "document"
	if isFinished(d) {
		event = "document_done"
	}
	return httpio.AppendFrame(nil, 0, event, body), nil
}
