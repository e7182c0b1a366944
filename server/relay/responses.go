package relay

import (
	"net/http"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// V1Respond handles POST /v1/responses. A background question gets its response at once, with the status in_progress.
func (h *Handlers) V1Respond(c httpio.Context) error {
	var body V1ResponseQuestion
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
		return h.stream(c, run, newResponseEncoder(run, 0), unnumbered)
	case body.Background:
		return c.JSON(http.StatusOK, newResponse(run))
	}
	if _, err := h.awaitAnswer(c, run); err != nil {
		return err
	}
	return h.sendResponse(c, run)
}

// V1GetResponse handles GET /v1/responses/{id}: the current response, or its stream after an event.
func (h *Handlers) V1GetResponse(c httpio.Context) error {
	stream, err := httpio.QueryFlag(c, "stream")
	if err != nil {
		return err
	}
	after, err := httpio.QueryInt(c, "starting_after", -1, 0, 1<<30)
	if err != nil {
		return err
	}
	run, err := h.findResponse(c, c.Param("id"))
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if stream {
		if err := h.Logs.Streams.Check(httpio.Scope(c).User); err != nil {
			return err
		}
		return h.stream(c, run, newResponseEncoder(run, int64(after)+1), unnumbered)
	}
	return h.sendResponse(c, run)
}

// V1CancelResponse handles POST /v1/responses/{id}/cancel: it cancels the run and returns its state. A finished run is
// unchanged.
func (h *Handlers) V1CancelResponse(c httpio.Context) error {
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
	if !ok || !httpio.RunIDForm().MatchString(runID) {
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
	return httpio.NotFound("Response not found. It may have been deleted with its conversation.")
}

// sendResponse sends the current state of a run.
func (h *Handlers) sendResponse(c httpio.Context, run chat.Run) error {
	w := newResponseEncoder(run, 0)
	s := newEventTranslator(c, w)
	s.muted = true
	if _, err := h.Logs.Walk(c.Request().Context(), httpio.Scope(c), fromStart(run), s.handleEvent); err != nil {
		return err
	}
	w.response.Output = w.output()
	return c.JSON(http.StatusOK, w.response)
}
