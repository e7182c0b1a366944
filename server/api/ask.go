package api

import (
	"net/http"

	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Accepted is the answer to a question that is being worked on.
type Accepted struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// The address of the run's events as pieces of the page.
	Stream string `json:"stream"`
	Events string `json:"events"` // The address of the run's events as JSON.
}

// Ask answers POST /chat: it starts a run and answers in the form the client asks for.
//
// A program that takes events gets them at once; the page's script gets the new turn, a form the conversation's page
// (303), and a program 202 with the addresses of the run, of which Location is the first (RFC 9110, section 15.3.3).
// The question of a form is stashed before the run is begun, so that a refusal can show it again.
func (a *Handlers) Ask(c httpio.Context) error {
	q, err := a.Questions.Read(c)
	if err != nil {
		return err
	}
	if c.Request().PostForm != nil {
		ask.StashQuestion(c, q)
	}
	run, err := a.Questions.Start(c, q)
	if err != nil {
		return err
	}
	switch {
	case httpio.WantsStream(c):
		return a.Logs.Follow(c, run.ID, 0, runlog.Follower{Frame: runlog.ProgramFrame})
	case httpio.ByHTMX(c):
		return a.AskedFragment(c, run)
	case httpio.WantsHTML(c) || httpio.MediaType(c) != httpio.TypeJSON:
		return c.Redirect(http.StatusSeeOther, ask.AskedPage(run))
	}
	c.Response().Header().Set("Location", "/agent/runs/"+run.ID)
	return c.JSON(http.StatusAccepted, Accepted{
		RunID: run.ID, SessionID: run.SessionID, Stream: "/runs/" + run.ID + "/stream",
		Events: "/agent/runs/" + run.ID + "/events",
	})
}
