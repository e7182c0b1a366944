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
	Finish string `json:"finish" api:"values=cancel|answer_now,initial=cancel"` // How to end the active run.
}

// Queue handles GET /sessions/{id}/queue: the queued questions, in send order.
//
// For a missing conversation the queue is empty or 404, as the store returns it; a read creates nothing.
func (a *Sessions) Queue(c httpio.Context) (WaitingList, error) {
	list, err := a.Store.Queue(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	return WaitingList{httpio.Each(list, waitingOf)}, err
}

// waitingOf converts a queued question to its API form.
func waitingOf(q chat.Queued) WaitingQuestion {
	return WaitingQuestion{q.ID, q.SessionID, q.Request.Message, q.Problem.String(), q.CreatedAt}
}

// Enqueue handles POST /sessions/{id}/queue: it queues a question, from JSON or a form.
func (a *Sessions) Enqueue(c httpio.Context) error {
	q, err := a.Questions.Read(c)
	if err != nil {
		return err
	}
	id := c.Param("id")
	if q.SessionID != "" && q.SessionID != id {
		return httpio.Invalid("session_id must match the conversation in the URL. Omit it.")
	}
	if q.Sibling != "" {
		return httpio.Invalid("A question that replaces another can't be queued. Omit sibling.")
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
	return a.answerQueue(c, http.StatusAccepted, waitingOf(queued))
}

// EditQueued handles PATCH /sessions/{id}/queue/{item}: it edits the text of a queued question.
//
// The text is validated like that of a new question.
func (a *Sessions) EditQueued(c httpio.Context) error {
	var body OtherWords
	if err := a.Bodies.ReadFields(c, &body); err != nil {
		return err
	}
	id := c.Param("id")
	req, err := a.Questions.Request(c, ask.Question{Message: body.Message, SessionID: id})
	if err != nil {
		return err
	}
	return a.queueChanged(c, a.Store.EditQueued(
		c.Request().Context(), httpio.Scope(c), id, c.Param("item"), strings.TrimSpace(req.Message),
	))
}

// DropQueued handles DELETE /sessions/{id}/queue/{item}: it removes a queued question.
func (a *Sessions) DropQueued(c httpio.Context) error {
	return a.queueChanged(c, a.Store.DropQueued(
		c.Request().Context(), httpio.Scope(c), c.Param("id"), c.Param("item"),
	))
}

// SendQueued handles POST /sessions/{id}/queue/{item}/send: it ends the run under way and sends a queued question
// next.
//
// Without JSON the run under way is cancelled. With answer_now it ends with an answer from its results so far.
func (a *Sessions) SendQueued(c httpio.Context) error {
	body := SendNow{Finish: "cancel"}
	if httpio.MediaType(c) == httpio.TypeJSON {
		if err := a.Bodies.ReadJSON(c, &body); err != nil {
			return err
		}
	}
	if body.Finish != "cancel" && body.Finish != "answer_now" {
		return httpio.Invalid("finish must be cancel or answer_now.")
	}
	return a.queueChanged(c, a.Runs.SendNow(
		c.Request().Context(), httpio.Scope(c), c.Param("id"), c.Param("item"), body.Finish == "answer_now",
	))
}

// queueChanged answers a change of one queued question and tries to send the first: removing or fixing it may unblock
// the next.
func (a *Sessions) queueChanged(c httpio.Context, err error) error {
	if err != nil {
		return err
	}
	a.Runs.Resend(c.Request().Context(), httpio.Scope(c), c.Param("id"))
	return a.answerQueue(c, http.StatusNoContent, nil)
}

// answerQueue sends the updated queue to the page, and another response to programs.
func (a *Sessions) answerQueue(c httpio.Context, status int, v any) error {
	session := c.Param("id")
	switch {
	case httpio.ByForm(c):
		return c.Redirect(http.StatusSeeOther, "/c/"+session+"#queue")
	case !httpio.ByHTMX(c) && v == nil:
		return c.NoContent(status)
	case !httpio.ByHTMX(c):
		return c.JSON(status, v)
	}
	list, err := a.Store.Queue(c.Request().Context(), httpio.Scope(c), session)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.Queue(session, list))
}
