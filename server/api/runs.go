package api

import (
	"context"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Runs serves runs and their steps.
type Runs struct {
	Store   chat.Store
	Logs    *runlog.Reader
	Runs    RunController
	Bodies  httpio.Bodies
	Metrics *httpio.Metrics
}

// Get handles GET /agent/runs/{id}: the current state of a run, with its answer if there is one.
func (a *Runs) Get(c httpio.Context) (*runlog.Trace, error) {
	t, err := a.Logs.Trace(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	if err == nil && t.Answer != nil {
		t.Answer.Markdown = t.Style.Named(t.Answer.Markdown, t.Citations, httpio.Origin(c))
		t.Text = t.Answer.Markdown
	}
	return t, err
}

// Events handles GET /agent/runs/{id}/events.
//
// It streams the log to programs, with the answer in the citation style of its question. The run is read for that
// only when the answer event arrives. See runlog.Reader.Follow for the resumption of a stream.
func (a *Runs) Events(c httpio.Context) error {
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	ctx, scope, base, id := c.Request().Context(), httpio.Scope(c), httpio.Origin(c), c.Param("id")
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

// Steered returns the handler of a command to a run, such as RunController.Cancel: 202 to programs, 204 to the page's
// script, 303 to a form.
//
// It does not wait for the effect, which appears in the run's events. The run is looked up first, for its conversation
// and to authorise its user.
func (a *Runs) Steered(how func(context.Context, chat.Scope, string) error) httpio.Handler {
	return func(c httpio.Context) error {
		run, err := a.Logs.Run(c)
		if err != nil {
			return err
		}
		if err := how(c.Request().Context(), httpio.Scope(c), run.ID); err != nil {
			return err
		}
		if httpio.ByHTMX(c) {
			return c.NoContent(http.StatusNoContent)
		}
		return answerAccepted(c, run, "/c/"+run.SessionID)
	}
}

// answerAccepted redirects a browser to a page, and tells programs where to follow a run.
func answerAccepted(c httpio.Context, run chat.Run, page string) error {
	if httpio.WantsHTML(c) {
		return c.Redirect(http.StatusSeeOther, page)
	}
	c.Response().Header().Set("Location", "/agent/runs/"+run.ID) // RFC 9110, section 15.3.3
	return c.JSON(http.StatusAccepted, Accepted{
		RunID: run.ID, SessionID: run.SessionID, Stream: "/runs/" + run.ID + "/stream",
		Events: "/agent/runs/" + run.ID + "/events",
	})
}

// Output handles GET /agent/runs/{id}/steps/{call}/output: the complete output of a tool call.
func (a *Runs) Output(c httpio.Context) error {
	output, err := a.Logs.Output(c.Request().Context(), httpio.Scope(c), c.Param("id"), c.Param("call"))
	if err != nil {
		return err
	}
	return c.JSONBlob(http.StatusOK, output)
}
