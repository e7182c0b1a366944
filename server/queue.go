package server

import (
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/httpio"
	"footnote/views"
)

// waitingQuestion is a question that waits until the run of its conversation is over.
type waitingQuestion struct {
	ID        string    `json:"id"`
	SessionID string    `json:"session_id"`
	Message   string    `json:"message"`
	Problem   string    `json:"problem,omitempty"` // why it could not be sent; change or remove it
	CreatedAt time.Time `json:"created_at"`
}

// waitingList is what waits, in the order in which it will be sent.
type waitingList struct {
	Queue []waitingQuestion `json:"queue"`
}

// otherWords is the body of PATCH /sessions/{id}/queue/{item}.
type otherWords struct {
	Message string `json:"message"`
}

// sendNow is the body of POST /sessions/{id}/queue/{item}/send.
type sendNow struct {
	Finish string `json:"finish"` // what happens to the run under way: cancel, answer_now
}

func (s *Server) getQueue(c echo.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	list, err := s.store.Queue(c.Request().Context(), httpio.Scope(c), id)
	if err != nil {
		return err
	}
	out := waitingList{Queue: []waitingQuestion{}}
	for _, q := range list {
		out.Queue = append(out.Queue, waitingOf(q))
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, out)
}

func waitingOf(q chat.Queued) waitingQuestion {
	return waitingQuestion{q.ID, q.SessionID, q.Request.Message, q.Problem, q.CreatedAt}
}

// enqueue lets a question wait: a form of the page, or JSON.
func (s *Server) enqueue(c echo.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	q, err := s.readQuestion(c)
	if err != nil {
		return err
	}
	if q.SessionID != "" && q.SessionID != id {
		return httpio.Invalid("session_id names another conversation than the address. Leave it out.")
	}
	if q.Sibling != "" {
		return httpio.Invalid("A question that takes another's place can't wait. Leave sibling out.")
	}
	q.SessionID = id
	req, err := s.runRequest(c, q)
	if err != nil {
		return err
	}
	queued, err := s.runs.Enqueue(c.Request().Context(), httpio.Scope(c), req)
	if err != nil {
		return err
	}
	if s.fromPage(c) {
		return s.queueChanged(c, id)
	}
	return c.JSON(http.StatusAccepted, waitingOf(queued))
}

func (s *Server) editQueued(c echo.Context) error {
	return s.changeQueued(c, func(id, item string) error {
		var body otherWords
		if httpio.MediaType(c) == echo.MIMEApplicationJSON {
			if err := s.bodies.ReadJSON(c, &body); err != nil {
				return err
			}
		} else {
			if err := s.bodies.ReadForm(c); err != nil {
				return err
			}
			body.Message = httpio.FormText(c.Request().PostForm, "message")
		}
		req, err := s.runRequest(c, question{Message: body.Message, SessionID: id})
		if err != nil {
			return err
		}
		return s.store.EditQueued(c.Request().Context(), httpio.Scope(c), id, item, strings.TrimSpace(req.Message))
	})
}

func (s *Server) dropQueued(c echo.Context) error {
	return s.changeQueued(c, func(id, item string) error {
		return s.store.DropQueued(c.Request().Context(), httpio.Scope(c), id, item)
	})
}

func (s *Server) sendQueued(c echo.Context) error {
	return s.changeQueued(c, func(id, item string) error {
		body := sendNow{Finish: "cancel"}
		if httpio.MediaType(c) == echo.MIMEApplicationJSON {
			if err := s.bodies.ReadJSON(c, &body); err != nil {
				return err
			}
		}
		if body.Finish != "cancel" && body.Finish != "answer_now" {
			return httpio.Invalid("finish must be cancel or answer_now.")
		}
		return s.runs.SendNow(c.Request().Context(), httpio.Scope(c), id, item, body.Finish == "answer_now")
	})
}

// changeQueued changes one waiting question; what now is first may be sent.
func (s *Server) changeQueued(c echo.Context, change func(id, item string) error) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	if err := change(id, c.Param("item")); err != nil {
		return err
	}
	s.runs.Resend(c.Request().Context(), httpio.Scope(c), id)
	if s.fromPage(c) {
		return s.queueChanged(c, id)
	}
	return c.NoContent(http.StatusNoContent)
}

// fromPage reports whether a request comes from the page, by its script or by a form.
func (s *Server) fromPage(c echo.Context) bool {
	return httpio.ByHTMX(c) || httpio.WantsHTML(c)
}

// queueChanged answers the page with what waits now.
func (s *Server) queueChanged(c echo.Context, session string) error {
	if !httpio.ByHTMX(c) {
		return c.Redirect(http.StatusSeeOther, "/c/"+session+"#queue")
	}
	list, err := s.store.Queue(c.Request().Context(), httpio.Scope(c), session)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.Queue(session, list))
}

// nextTurns answers the page's script when a run is over or another one is the newest: the turns of the shown branch that are not on the
// branch to ?after=, what still waits, and the question box. The page puts the turns behind the one that the first of them names: those
// that stood there belong to another version.
func (s *Server) nextTurns(c echo.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	list, err := s.store.Queue(ctx, scope, id)
	if err != nil {
		return err
	}
	session, err := s.store.Session(ctx, scope, id)
	if err != nil {
		return err
	}
	runs, _, err := s.readableRuns(ctx, scope, session)
	if err != nil {
		return err
	}
	parts := []templ.Component{views.Queue(id, list)}
	branch := branchTo(runs, session.HeadID)
	seen := branchTo(runs, c.QueryParam("after"))
	at := shared(branch, seen)
	if at == len(branch) && at < len(seen) { // it ends before what is seen
		at--
	}
	if news, _ := readable(branch[at:]); len(news) > 0 {
		turns, _, err := s.foldTurns(ctx, scope, news, runs)
		if err != nil {
			return err
		}
		box := views.Composer{SessionID: id, Key: chat.NewID()}
		for _, t := range turns {
			parts = append(parts, views.TurnArticle(t))
			if t.Running() {
				box.RunID, box.Budget = t.RunID, t.Budget
			}
		}
		parts = append(parts, views.ComposerBar(box), views.ComposerUse(box))
	}
	return httpio.Show(c, http.StatusOK, templ.Join(parts...))
}
