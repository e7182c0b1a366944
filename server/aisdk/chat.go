// Package aisdk serves clients made with Vercel's AI SDK: a chat is a session of the same id, and an answer is a
// message with its run's id. It is streamed as a UI message stream, with tools, sources and thoughts as parts.
package aisdk

import (
	"context"
	"net/http"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Handlers serves the routes below /ui/chat.
type Handlers struct {
	Store     chat.Store
	Runs      Canceller
	Logs      *runlog.Reader
	Questions *ask.Questions
	Bodies    httpio.Bodies
}

// Canceller cancels runs.
type Canceller interface {
	Cancel(ctx context.Context, scope chat.Scope, runID string) error
}

// Question is the body of POST /ui/chat, as the SDK's DefaultChatTransport sends it, with additional fields for an
// app. Unknown fields are accepted and have no effect.
type Question struct {
	ID string `json:"id" api:"need,form=session"` // The chat's id, which becomes the conversation's.
	// The chat; the last message is the question, the earlier ones are turns.
	Messages []Message `json:"messages" api:"need,min=1"`
	// submit-message, or regenerate-message for another answer to the same question.
	Trigger   string  `json:"trigger"`
	MessageID *string `json:"messageId"` // The message that is regenerated or was edited.
	// The namespace; without it, documents are added to "default" and all namespaces are searched.
	Namespace   string         `json:"namespace"`
	DocumentIDs []string       `json:"document_ids"` // Restricts the search to these documents; without it, all.
	Toolset     string         `json:"toolset"`
	Config      chat.RunConfig `json:"config"`
}

// Message is one of the SDK's UI messages.
type Message struct {
	ID string `json:"id"` // The message's id; of an answer its run's.
	// user and assistant make the chat. system is added to the model's rules, 8,000 characters in all. Others are
	// accepted and have no effect.
	Role  string `json:"role"`
	Parts []Part `json:"parts"` // The parts; only those of type text are read.
}

// Part is a part of a message. Of other types than text only the type is decoded.
type Part struct {
	// text; any other type is accepted and has no effect, except that a question may have no file.
	Type string `json:"type"`
	Text string `json:"text"`
}

// regenerates is the trigger for another answer to the same question.
const regenerates = "regenerate-message"

// Chat handles POST /ui/chat.
func (h *Handlers) Chat(c httpio.Context) error {
	var body Question
	if err := h.Bodies.ReadOpenJSON(c, &body); err != nil {
		return err
	}
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	q := ask.Question{
		Namespace: body.Namespace, DocumentIDs: body.DocumentIDs, Toolset: body.Toolset, Config: body.Config,
		Stream: true,
	}
	said, err := body.conversation()
	if err != nil {
		return err
	}
	if err := q.Take(said); err != nil {
		return err
	}
	again := body.Trigger == regenerates || body.MessageID != nil
	if err := h.Questions.Join(c, &q, body.ID, said, again); err != nil {
		return err
	}
	run, err := h.Questions.Start(c, q)
	if err != nil {
		return err
	}
	return h.stream(c, run, after)
}

// conversation returns the text of the messages.
func (body Question) conversation() ([]ask.Said, error) {
	said := make([]ask.Said, 0, len(body.Messages))
	for i, m := range body.Messages {
		var texts []string
		for _, part := range m.Parts {
			switch {
			case part.Type == "text":
				texts = append(texts, part.Text)
			case part.Type == "file" && i == len(body.Messages)-1:
				return nil, httpio.Invalid(
					"The message has a file. Send text alone, and upload files as documents.",
				)
			}
		}
		said = append(said, ask.Said{ID: m.ID, Role: m.Role, Text: strings.Join(texts, "\n\n")})
	}
	return said, nil
}

// Resume handles GET /ui/chat/{id}/stream: the run under way, from its beginning, or 204 without one. A client that
// sends the last event number resumes the last run after it, even if that is over.
func (h *Handlers) Resume(c httpio.Context) error {
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	if err := chat.CheckSessionID(c.Param("id")); err != nil {
		return err
	}
	numbered := c.QueryParam("after") != "" || c.Request().Header.Get("Last-Event-ID") != ""
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := h.Store.Session(ctx, scope, c.Param("id"))
	switch {
	case chat.CodeOf(err) == chat.CodeNotFound: // a client may ask before its chat's first question
		return c.NoContent(http.StatusNoContent)
	case err != nil:
		return err
	case numbered && session.HeadID != "":
		run, err := h.Store.Run(ctx, scope, session.HeadID)
		if err != nil {
			return err
		}
		return h.stream(c, run, after)
	}
	run, found, err := h.underWay(c, session)
	switch {
	case err != nil:
		return err
	case !found:
		return c.NoContent(http.StatusNoContent)
	}
	return h.stream(c, run, 0)
}

// Stop handles POST /ui/chat/{id}/stop: it cancels the run under way, if any.
func (h *Handlers) Stop(c httpio.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := h.Store.Session(ctx, scope, c.Param("id"))
	if err != nil {
		return err
	}
	run, found, err := h.underWay(c, session)
	if err == nil && found {
		err = h.Runs.Cancel(ctx, scope, run.ID)
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// underWay returns the newest unfinished run of a session.
func (h *Handlers) underWay(c httpio.Context, session chat.Session) (run chat.Run, found bool, err error) {
	if !session.Running {
		return run, false, nil
	}
	runs, err := h.Store.Runs(c.Request().Context(), httpio.Scope(c), session.ID)
	for _, r := range runs {
		if r.Status == chat.RunRunning {
			run, found = r, true
		}
	}
	return run, found, err
}

// stream streams a run after an event.
func (h *Handlers) stream(c httpio.Context, run chat.Run, after int64) error {
	c.Response().Header().Set("X-Vercel-AI-UI-Message-Stream", "v1")
	return h.Logs.Retell(c, run, after, &teller{base: httpio.Origin(c)}, "[DONE]")
}
