package api

import (
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Accepted is the response for a question whose run has started.
type Accepted struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	// The URL of the run's event stream as HTML fragments.
	Stream string `json:"stream"`
	Events string `json:"events"` // The URL of the run's event stream as JSON.
}

// Questions starts runs for questions.
type Questions struct {
	Questions *ask.Questions
	Logs      *runlog.Reader
	Bodies    httpio.Bodies
	// Fragment sends the turn of a new run to the page's script.
	Fragment func(httpio.Context, chat.Run) error
}

// Ask handles POST /chat: it starts a run and answers in the client's format.
//
// A program that accepts events gets a stream, and any other 202 with the addresses of the run. The page's script gets
// the new turn, and a form is redirected to the conversation's page (303). A form's question is stashed before the run
// starts, so that an error page can show it again.
func (a *Questions) Ask(c httpio.Context) error {
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
		return a.Fragment(c, run)
	case httpio.MediaType(c) != httpio.TypeJSON:
		return c.Redirect(http.StatusSeeOther, ask.AskedPage(run))
	}
	return answerAccepted(c, run, ask.AskedPage(run))
}
