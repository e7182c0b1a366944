package server

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/ask"
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

func (a *apiHandlers) getQueue(c echo.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	list, err := a.store.Queue(c.Request().Context(), httpio.Scope(c), id)
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
func (a *apiHandlers) enqueue(c echo.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	q, err := a.questions.Read(c)
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
	req, err := a.questions.Request(c, q)
	if err != nil {
		return err
	}
	queued, err := a.runs.Enqueue(c.Request().Context(), httpio.Scope(c), req)
	if err != nil {
		return err
	}
	if a.fromPage(c) {
		return a.queueChanged(c, id)
	}
	return c.JSON(http.StatusAccepted, waitingOf(queued))
}

func (a *apiHandlers) editQueued(c echo.Context) error {
	return a.changeQueued(c, func(id, item string) error {
		var body otherWords
		if httpio.MediaType(c) == echo.MIMEApplicationJSON {
			if err := a.bodies.ReadJSON(c, &body); err != nil {
				return err
			}
		} else {
			if err := a.bodies.ReadForm(c); err != nil {
				return err
			}
			body.Message = httpio.FormText(c.Request().PostForm, "message")
		}
		req, err := a.questions.Request(c, ask.Question{Message: body.Message, SessionID: id})
		if err != nil {
			return err
		}
		return a.store.EditQueued(c.Request().Context(), httpio.Scope(c), id, item, strings.TrimSpace(req.Message))
	})
}

func (a *apiHandlers) dropQueued(c echo.Context) error {
	return a.changeQueued(c, func(id, item string) error {
		return a.store.DropQueued(c.Request().Context(), httpio.Scope(c), id, item)
	})
}

func (a *apiHandlers) sendQueued(c echo.Context) error {
	return a.changeQueued(c, func(id, item string) error {
		body := sendNow{Finish: "cancel"}
		if httpio.MediaType(c) == echo.MIMEApplicationJSON {
			if err := a.bodies.ReadJSON(c, &body); err != nil {
				return err
			}
		}
		if body.Finish != "cancel" && body.Finish != "answer_now" {
			return httpio.Invalid("finish must be cancel or answer_now.")
		}
		return a.runs.SendNow(c.Request().Context(), httpio.Scope(c), id, item, body.Finish == "answer_now")
	})
}

// changeQueued changes one waiting question; what now is first may be sent.
func (a *apiHandlers) changeQueued(c echo.Context, change func(id, item string) error) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	if err := change(id, c.Param("item")); err != nil {
		return err
	}
	a.runs.Resend(c.Request().Context(), httpio.Scope(c), id)
	if a.fromPage(c) {
		return a.queueChanged(c, id)
	}
	return c.NoContent(http.StatusNoContent)
}

// fromPage reports whether a request comes from the page, by its script or by a form.
func (a *apiHandlers) fromPage(c echo.Context) bool {
	return httpio.ByHTMX(c) || httpio.WantsHTML(c)
}

// queueChanged answers the page with what waits now.
func (a *apiHandlers) queueChanged(c echo.Context, session string) error {
	if !httpio.ByHTMX(c) {
		return c.Redirect(http.StatusSeeOther, "/c/"+session+"#queue")
	}
	list, err := a.store.Queue(c.Request().Context(), httpio.Scope(c), session)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.Queue(session, list))
}
