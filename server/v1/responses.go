package v1

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Respond handles POST /v1/responses. A background question gets its response at once, with the status in_progress.
func (h *Handlers) Respond(c httpio.Context) error {
	var body ResponseQuestion
	if err := h.Bodies.ReadOpenJSON(c, &body); err != nil {
		return err
	}
	q, err := h.toQuestion(c, body)
	if err != nil {
		return err
	}
	run, err := h.Questions.Start(c, q)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	switch {
	case body.Stream:
		return h.streamResponse(c, run, -1)
	case body.Background:
		return c.JSON(http.StatusOK, newResponse(run))
	}
	w := newTeller(c, run, nil)
	t, err := h.Logs.Watch(c.Request().Context(), httpio.Scope(c), run, w.see, nil)
	if err != nil {
		return err
	}
	if err := t.Failure(); err != nil {
		return err
	}
	if err := w.end(t, nil); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, w.response)
}

// GetResponse handles GET /v1/responses/{id}: the current response, or its stream after an event.
func (h *Handlers) GetResponse(c httpio.Context) error {
	stream, err := httpio.QueryFlag(c, "stream")
	if err != nil {
		return err
	}
	after, err := httpio.QueryInt(c, "starting_after", -1, 0, maxSequence)
	if err != nil {
		return err
	}
	run, err := h.findResponse(c, c.Param("id"))
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if stream {
		if err := h.Streams.Check(httpio.Scope(c).User); err != nil {
			return err
		}
		return h.streamResponse(c, run, int64(after))
	}
	return h.sendResponse(c, run)
}

// maxSequence is the maximum sequence number in a request.
const maxSequence = 1 << 30

// CancelResponse handles POST /v1/responses/{id}/cancel: it cancels the run and returns its state. A finished run is
// unchanged.
func (h *Handlers) CancelResponse(c httpio.Context) error {
	run, err := h.findResponse(c, c.Param("id"))
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	if run.Status == chat.RunRunning {
		err := h.Runs.Cancel(ctx, scope, run.ID)
		if err != nil && chat.CodeOf(err) != chat.CodeConflict { // it ended meanwhile
			return err
		}
		if _, err := h.Logs.Await(ctx, scope, run); err != nil {
			return err
		}
	}
	return h.sendResponse(c, run)
}

// findResponse returns the run of a response id.
func (h *Handlers) findResponse(c httpio.Context, id string) (chat.Run, error) {
	runID, ok := strings.CutPrefix(id, "resp_")
	if !ok || !httpio.RunIDForm.MatchString(runID) {
		return chat.Run{}, noSuchResponse()
	}
	run, err := h.Store.Run(c.Request().Context(), httpio.Scope(c), runID)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return run, noSuchResponse()
	}
	return run, err
}

// noSuchResponse returns the error for a response that is missing or another user's.
func noSuchResponse() error {
	return httpio.NotFound("There is no such response. It may have been deleted with its conversation.")
}

// newTeller returns a teller for a run. send is nil if only the response is needed.
func newTeller(c httpio.Context, run chat.Run, send func(ResponseEvent) error) *responseTeller {
	return &responseTeller{base: httpio.Origin(c), response: newResponse(run), send: send}
}

// sendResponse sends the current state of a run.
func (h *Handlers) sendResponse(c httpio.Context, run chat.Run) error {
	w := newTeller(c, run, nil)
	t, err := h.Logs.Walk(c.Request().Context(), httpio.Scope(c), run, w.see)
	if err != nil {
		return err
	}
	if t.Log.Done == nil {
		w.response.Output = w.output()
	} else if err := w.end(t, t.Failure()); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, w.response)
}

// streamResponse streams the events of a run after a sequence number. A later failure is sent as the last event.
func (h *Handlers) streamResponse(c httpio.Context, run chat.Run, after int64) error {
	out, leave, err := h.Streams.Open(c)
	if out == nil {
		return err // or the reader has disconnected; the run continues
	}
	defer leave()
	w := newTeller(c, run, func(e ResponseEvent) error {
		if e.SequenceNumber <= after {
			return nil
		}
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		return out.Send(httpio.AppendFrame(nil, 0, e.Type, body))
	})
	ctx := c.Request().Context()
	err = w.begin()
	t := runlog.NewTrace(run)
	if err == nil {
		t, err = h.Logs.Watch(ctx, httpio.Scope(c), run, w.see, func() error { return out.Comment("still here") })
	}
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = t.Failure()
	}
	return errors.Join(err, w.end(t, err)) // the stream is open: it is only logged
}
