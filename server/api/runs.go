package api

import (
	"context"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// GetRun handles GET /agent/runs/{id}: the current state of a run, with its answer if there is one.
//
// For the run's user it answers 200 at any time; 404 for a missing run or another user's. It is not cacheable, since
// it grows.
func (a *Handlers) GetRun(c httpio.Context) error {
	id, err := httpio.RunID(c)
	if err != nil {
		return err
	}
	t, err := a.Logs.Trace(c.Request().Context(), httpio.Scope(c), id)
	if err != nil {
		return err
	}
	if t.Answer != nil {
		t.Answer.Markdown = t.Style.Named(t.Answer.Markdown, t.Citations, httpio.Origin(c))
		t.Text = t.Answer.Markdown
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, t)
}

// CancelRun handles POST /agent/runs/{id}/cancel: it cancels a run.
//
// It answers 202 to programs, 204 to the page's script, 303 to a form. It fails with 409 for a finished run.
func (a *Handlers) CancelRun(c httpio.Context) error { return a.steerRun(c, a.Runs.Cancel) }

// AnswerNow handles POST /agent/runs/{id}/answer-now: it makes a run answer from its results so far.
//
// Its response is that of CancelRun.
func (a *Handlers) AnswerNow(c httpio.Context) error { return a.steerRun(c, a.Runs.AnswerNow) }

// steerRun sends a command to a run. The effect appears in the run's events.
//
// It does not wait for the effect. The run is looked up first, for its conversation and to authorise its user.
func (a *Handlers) steerRun(c httpio.Context, how func(context.Context, chat.Scope, string) error) error {
	run, err := a.Logs.Run(c)
	if err != nil {
		return err
	}
	if err := how(c.Request().Context(), httpio.Scope(c), run.ID); err != nil {
		return err
	}
	switch {
	case httpio.ByHTMX(c):
		return c.NoContent(http.StatusNoContent)
	case httpio.WantsHTML(c):
		return c.Redirect(http.StatusSeeOther, "/c/"+run.SessionID)
	}
	return c.JSON(http.StatusAccepted, Accepted{
		RunID: run.ID, SessionID: run.SessionID, Stream: "/runs/" + run.ID + "/stream",
		Events: "/agent/runs/" + run.ID + "/events",
	})
}

// GetStepOutput handles GET /agent/runs/{id}/steps/{call}/output: the complete output of a tool call.
//
// It fails with 404 for a step without output so far.
func (a *Handlers) GetStepOutput(c httpio.Context) error {
	id, err := httpio.RunID(c)
	if err != nil {
		return err
	}
	output, err := a.Logs.Output(c.Request().Context(), httpio.Scope(c), id, c.Param("call"))
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, output)
}
