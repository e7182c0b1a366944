package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/english"
	"footnote/server/httpio"
)

// question is the body of POST /chat. A form has the same fields, and idempotency_key.
type question struct {
	Message     string         `json:"message"`
	SessionID   string         `json:"session_id"`
	ContextText *string        `json:"context_text"`
	Namespace   string         `json:"namespace"`
	DocumentIDs []string       `json:"document_ids"`
	Toolset     string         `json:"toolset"`
	Config      chat.RunConfig `json:"config"`
	Sibling     string         `json:"sibling"` // the run whose place the new one shares: regenerate, edit

	addedContext *string     // text to answer from besides the documents
	thorough     bool        // omitted query decomposition and self-evaluation are on
	history      [][2]string // earlier turns from outside, as [question, answer]
	stream       bool        // the answer is to be followed, although no header says so
	instructions string      // for the model, besides its rules
	style        citationStyle
}

// accepted is the answer to a question that is being worked on.
type accepted struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	Stream    string `json:"stream"` // of page fragments
	Events    string `json:"events"` // of JSON
}

// ask answers POST /chat: it starts a run and answers in the form the client asks for.
func (s *Server) ask(c echo.Context) error {
	q, err := s.readQuestion(c)
	if err != nil {
		return err
	}
	if c.Request().PostForm != nil {
		c.Set(refusedKey, q)
	}
	run, err := s.startRun(c, q)
	if err != nil {
		return err
	}
	switch {
	case httpio.WantsStream(c):
		return s.follow(c, run.ID, 0, follower{frame: programFrame})
	case httpio.ByHTMX(c):
		return s.askFragment(c, run)
	case httpio.WantsHTML(c) || httpio.MediaType(c) != echo.MIMEApplicationJSON:
		return c.Redirect(http.StatusSeeOther, askedPage(run))
	}
	c.Response().Header().Set("Location", "/agent/runs/"+run.ID)
	return c.JSON(http.StatusAccepted, accepted{
		RunID: run.ID, SessionID: run.SessionID, Stream: "/runs/" + run.ID + "/stream", Events: "/agent/runs/" + run.ID + "/events",
	})
}

func (s *Server) readQuestion(c echo.Context) (question, error) {
	var q question
	if httpio.MediaType(c) == echo.MIMEApplicationJSON {
		err := s.bodies.ReadJSON(c, &q)
		return q, err
	}
	if err := s.bodies.ReadForm(c); err != nil {
		return q, err
	}
	form := c.Request().PostForm
	q = question{
		Message: httpio.FormText(form, "message"), SessionID: form.Get("session_id"), Namespace: form.Get("namespace"),
		DocumentIDs: without(form["document_ids"], ""), Toolset: form.Get("toolset"), Sibling: form.Get("sibling"),
	}
	q.Config.Model = form.Get("model")
	if text := httpio.FormText(form, "context_text"); strings.TrimSpace(text) != "" { // an empty field of a form means that there is none
		q.ContextText = &text
	}
	s.keepOn(c, form, &q)
	if form.Has("new_session") {
		q.SessionID = ""
	}
	return q, nil
}

// without is a list without an entry. The question box names no document when none is ticked, which an empty entry says.
func without(list []string, entry string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == entry })
}

// startRun checks a question and starts its run, once for each Idempotency-Key.
func (s *Server) startRun(c echo.Context, q question) (chat.Run, error) {
	if httpio.WantsStream(c) || q.stream {
		if err := s.streams.Check(httpio.Scope(c).User); err != nil {
			return chat.Run{}, err
		}
	}
	return s.startFor(c.Request().Context(), httpio.Scope(c), c.Path(), httpio.OnceKey(c), q)
}

// startFor is startRun for a question that came by any route.
func (s *Server) startFor(ctx context.Context, scope chat.Scope, route, key string, q question) (chat.Run, error) {
	if s.streams.IsDraining() {
		return chat.Run{}, &chat.Error{Code: chat.CodeUnavailable, Message: "The server is restarting. Ask again in a few seconds."}
	}
	req, err := s.checked(key, q)
	if err != nil {
		return chat.Run{}, err
	}
	run, fresh, err := s.runs.Start(ctx, scope.User, req)
	if err != nil {
		return chat.Run{}, err
	}
	if fresh {
		s.metrics.RunStarted(route)
	}
	return run, nil
}

func (s *Server) runRequest(c echo.Context, q question) (chat.RunRequest, error) {
	return s.checked(httpio.OnceKey(c), q)
}

func (s *Server) checked(key string, q question) (chat.RunRequest, error) {
	if err := httpio.CheckKey(key); err != nil {
		return chat.RunRequest{}, err
	}
	if q.SessionID != "" {
		if err := chat.CheckSessionID(q.SessionID); err != nil {
			return chat.RunRequest{}, err
		}
	}
	if err := httpio.CheckNamespace(q.Namespace); err != nil {
		return chat.RunRequest{}, err
	}
	req := chat.RunRequest{
		SessionID: q.SessionID, Message: q.Message, Namespace: q.Namespace, DocumentIDs: q.DocumentIDs,
		Toolset: q.Toolset, Config: q.Config, History: q.history, Instructions: q.instructions, CitationStyle: string(q.style), Sibling: q.Sibling, Thorough: q.thorough, IdempotencyKey: key,
	}
	if corpus.Blank(req.Message) {
		return req, httpio.Invalid("The question is empty. Write one and send it again.")
	}
	if utf8.RuneCountInString(req.Message) > s.limits.Message {
		return req, httpio.Invalid("The question is longer than " + english.Digits(s.limits.Message) + " characters. Shorten it, or upload the long part as a document.")
	}
	if q.ContextText != nil {
		if req.ContextText = *q.ContextText; corpus.Blank(req.ContextText) {
			return req, httpio.Invalid("The context_text is empty. Leave it out, or send the text that the answer should come from.")
		}
	}
	if q.addedContext != nil {
		if req.AddedContext = *q.addedContext; corpus.Blank(req.AddedContext) {
			return req, httpio.Invalid("The context is empty. Leave it out, or send text that the answer may rest on besides the documents.")
		}
	}
	if err := httpio.CheckNames("document_ids", q.DocumentIDs); err != nil {
		return req, err
	}
	return req, checkConfig(q.Config)
}

// checkConfig holds a request's own settings to their ranges.
func checkConfig(cfg chat.RunConfig) error {
	if err := httpio.CheckNames("config.enabled_tools", cfg.EnabledTools); err != nil {
		return err
	}
	if t := cfg.Temperature; t != nil && (*t < 0 || *t > 2) {
		return httpio.Invalid("config.temperature must be between 0 and 2.")
	}
	for _, field := range []struct {
		name  string
		value *int
		most  int
	}{{"max_steps", cfg.MaxSteps, chat.MostSteps}, {"max_retrieval_calls", cfg.MaxRetrievalCalls, chat.MostSteps}, {"retrieval_top_k", cfg.RetrievalTopK, 50}} {
		if field.value != nil && (*field.value < 1 || *field.value > field.most) {
			return httpio.Invalid("config." + field.name + " must be between 1 and " + strconv.Itoa(field.most) + ".")
		}
	}
	return nil
}
