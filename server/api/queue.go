package api

import (
	"net/http"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// WaitingQuestion is a question in the queue of its conversation.
type WaitingQuestion struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	Message   string `json:"message"` // The question.
	// Why sending failed. It stays queued until it is edited or removed.
	Problem   string    `json:"problem,omitempty"`
	CreatedAt time.Time `json:"created_at"`
}

// WaitingList is the queue, in send order.
type WaitingList struct {
	Queue []WaitingQuestion `json:"queue"` // The queued questions, in send order.
}

// OtherWords is the body of PATCH /sessions/{id}/queue/{item}.
type OtherWords struct {
	Message string `json:"message" api:"need,filled,max=chat.MaxQuestion"` // The question.
}

// SendNow is the body of POST /sessions/{id}/queue/{item}/send.
type SendNow struct {
	Finish string `json:"finish" api:"values=cancel|answer_now,initial=cancel"` // How the run under way ends.
}

// GetQueue handles GET /sessions/{id}/queue: the queued questions, in send order.
//
// For a missing conversation the queue is empty or 404, as the store returns it; a read creates nothing.
func (a *Handlers) GetQueue(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	list, err := a.Store.Queue(c.Request().Context(), httpio.Scope(c), id)
	if err != nil {
		return err
	}
	out := WaitingList{Queue: []WaitingQuestion{}}
	for _, q := range list {
		out.Queue = append(out.Queue, waitingOf(q))
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, out)
}

// waitingOf converts a queued question to its API form.
func waitingOf(q chat.Queued) WaitingQuestion {
	return WaitingQuestion{q.ID, q.SessionID, q.Request.Message, q.Problem, q.CreatedAt}
}

// Enqueue handles POST /sessions/{id}/queue, and POST /c/{id}/queue for the page: it queues a question. The question
// is a form of the page, or JSON.
//
// It answers 202 with the queued question; the page gets the updated queue (200 to the script, 303 to a form). It
// fails with 400 if the question names another conversation or replaces another question, and 409 if the queue is
// full.
func (a *Handlers) Enqueue(c httpio.Context) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	q, err := a.Questions.Read(c)
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
	req, err := a.Questions.Request(c, q)
	if err != nil {
		return err
	}
	queued, err := a.Runs.Enqueue(c.Request().Context(), httpio.Scope(c), req)
	if err != nil {
		return err
	}
	if a.fromPage(c) {
		return a.queueChanged(c, id)
	}
	return c.JSON(http.StatusAccepted, waitingOf(queued))
}

// EditQueued handles PATCH /sessions/{id}/queue/{item}, and POST /c/{id}/queue/{item}/edit for the page: it edits
// the text of a queued question.
//
// It fails with 404 for a question no longer queued. The text is validated like that of a new question.
func (a *Handlers) EditQueued(c httpio.Context) error {
	return a.changeQueued(c, func(id, item string) error {
		var body OtherWords
		if httpio.MediaType(c) == httpio.TypeJSON {
			if err := a.Bodies.ReadJSON(c, &body); err != nil {
				return err
			}
		} else {
			if err := a.Bodies.ReadForm(c); err != nil {
				return err
			}
			body.Message = httpio.FormText(c.Request().PostForm, "message")
		}
		req, err := a.Questions.Request(c, ask.Question{Message: body.Message, SessionID: id})
		if err != nil {
			return err
		}
		return a.Store.EditQueued(c.Request().Context(), httpio.Scope(c), id, item, strings.TrimSpace(req.Message))
	})
}

// DropQueued handles DELETE /sessions/{id}/queue/{item}, and POST /c/{id}/queue/{item}/delete for the page: it
// removes a queued question.
func (a *Handlers) DropQueued(c httpio.Context) error {
	return a.changeQueued(c, func(id, item string) error {
		return a.Store.DropQueued(c.Request().Context(), httpio.Scope(c), id, item)
	})
}

// SendQueued handles POST /sessions/{id}/queue/{item}/send, and POST /c/{id}/queue/{item}/send for the page: it ends
// the run under way and sends a queued question next.
//
// Without JSON the run under way is cancelled. With answer_now it ends with an answer from its results so far.
func (a *Handlers) SendQueued(c httpio.Context) error {
	return a.changeQueued(c, func(id, item string) error {
		body := SendNow{Finish: "cancel"}
		if httpio.MediaType(c) == httpio.TypeJSON {
			if err := a.Bodies.ReadJSON(c, &body); err != nil {
				return err
			}
		}
		if body.Finish != "cancel" && body.Finish != "answer_now" {
			return httpio.Invalid("finish must be cancel or answer_now.")
		}
		return a.Runs.SendNow(c.Request().Context(), httpio.Scope(c), id, item, body.Finish == "answer_now")
	})
}

// changeQueued changes one queued question and then tries to send the first.
//
// It answers 204 to programs and the queue to the page. Removing or fixing the first question may unblock the next.
func (a *Handlers) changeQueued(c httpio.Context, change func(id, item string) error) error {
	id, err := httpio.SessionID(c)
	if err != nil {
		return err
	}
	if err := change(id, c.Param("item")); err != nil {
		return err
	}
	a.Runs.Resend(c.Request().Context(), httpio.Scope(c), id)
	if a.fromPage(c) {
		return a.queueChanged(c, id)
	}
	return c.NoContent(http.StatusNoContent)
}

// fromPage reports whether a request comes from the page, by its script or by a form.
func (a *Handlers) fromPage(c httpio.Context) bool {
	return httpio.ByHTMX(c) || httpio.WantsHTML(c)
}

// queueChanged sends the updated queue to the page.
func (a *Handlers) queueChanged(c httpio.Context, session string) error {
	if !httpio.ByHTMX(c) {
		return c.Redirect(http.StatusSeeOther, "/c/"+session+"#queue")
	}
	list, err := a.Store.Queue(c.Request().Context(), httpio.Scope(c), session)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.Queue(session, list))
}
