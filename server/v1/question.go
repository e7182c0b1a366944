// Package v1 answers clients made for OpenAI's API: a chat completion is a run whose answer comes with its footnotes as
// annotations. What such clients send besides, such as tools of their own, is taken and left alone. Streams carry the
// answer as it is written; a run that a guardrail ended is a completion that says so.
package v1

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/ask"
	"footnote/server/httpio"
	"footnote/server/runlog"
)

// ModelName is the one model of the OpenAI-compatible API: whatever model works inside, Footnote is who answers.
const ModelName = "footnote"

// modelCreated is when that model came to be, in Unix seconds: clients want a time, and this one never changes.
const modelCreated = 1767225600

// Handlers answers the addresses below /v1.
type Handlers struct {
	Logs      *runlog.Reader
	Questions *ask.Questions
	Bodies    httpio.Bodies
	Streams   *httpio.Streams
}

// Question is the body of POST /v1/chat/completions. Clients send much more than this: the rest is let in and has no
// effect. MaxTokens and MaxCompletionTokens have none either: an answer cut in its middle would lose its sources.
type Question struct {
	Model          string    `json:"model"`
	Messages       []Message `json:"messages"`
	Stream         bool      `json:"stream"`
	StreamOptions  *Stream   `json:"stream_options"`
	Temperature    *float64  `json:"temperature"`
	Seed           *int64    `json:"seed"`
	N              *int      `json:"n"`
	ResponseFormat *Format   `json:"response_format"`
	Tools          []any     `json:"tools"`
	ToolChoice     string    `json:"tool_choice"`
	MaxTokens      *int      `json:"max_tokens"`
	MaxCompletion  *int      `json:"max_completion_tokens"`
	SessionID      string    `json:"session_id"` // goes on with that session; only the last message is used then
	Namespace      string    `json:"namespace"`
	DocumentIDs    []string  `json:"document_ids"`
}

// Message is one message of a conversation.
type Message struct {
	Role    string      `json:"role"`
	Content ask.Content `json:"content"`
}

// Stream is the request's stream_options.
type Stream struct {
	IncludeUsage bool `json:"include_usage"`
}

// Format is the request's response_format.
type Format struct {
	Type string `json:"type"`
}

// ModelInfo describes a model.
type ModelInfo struct {
	ID      string `json:"id"`
	Object  string `json:"object"` // model
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// ModelList is the list of the models.
type ModelList struct {
	Object string      `json:"object"` // list
	Data   []ModelInfo `json:"data"`
}

// footnoteModel describes the one model that this API offers.
func footnoteModel() ModelInfo {
	return ModelInfo{ID: ModelName, Object: "model", Created: modelCreated, OwnedBy: "footnote"}
}

// Models answers GET /v1/models.
func (h *Handlers) Models(c echo.Context) error {
	return c.JSON(http.StatusOK, ModelList{Object: "list", Data: []ModelInfo{footnoteModel()}})
}

// Model answers GET /v1/models/{model}.
func (h *Handlers) Model(c echo.Context) error {
	if c.Param("model") != ModelName {
		return noSuchModel()
	}
	return c.JSON(http.StatusOK, footnoteModel())
}

// noSuchModel is the error for every other model's name.
func noSuchModel() error { return httpio.NotFound(`There is no such model here. Use "footnote".`) }

// Chat answers POST /v1/chat/completions.
func (h *Handlers) Chat(c echo.Context) error {
	var body Question
	if err := h.Bodies.ReadOpenJSON(c, &body); err != nil {
		return err
	}
	q, err := body.toQuestion()
	if err != nil {
		return err
	}
	q.Stream = body.Stream
	run, err := h.Questions.Start(c, q)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if body.Stream {
		return h.streamChunks(c, run, body.StreamOptions != nil && body.StreamOptions.IncludeUsage)
	}
	t, err := h.Logs.Await(c.Request().Context(), httpio.Scope(c), run)
	if err != nil {
		return err
	}
	if err := t.Failure(); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newCompletion(t, httpio.Origin(c)))
}

// toQuestion checks a body and makes a question of it: the last message is what is asked, those before it are the
// conversation.
func (body Question) toQuestion() (ask.Question, error) {
	q := ask.Question{SessionID: body.SessionID, Namespace: body.Namespace, DocumentIDs: body.DocumentIDs}
	q.Config.Temperature, q.Config.Seed = body.Temperature, body.Seed
	switch {
	case body.Model == "":
		return q, httpio.Invalid(`The field "model" is missing. Use "footnote".`)
	case body.Model != ModelName:
		return q, noSuchModel()
	case body.N != nil && *body.N != 1:
		return q, httpio.Invalid(`n must be 1: a question has one answer here.`)
	case body.ResponseFormat != nil && body.ResponseFormat.Type != "text":
		return q, httpio.Invalid(`response_format must be "text": answers are Markdown with footnotes.`)
	case body.Temperature != nil && (*body.Temperature < 0 || *body.Temperature > 2):
		return q, httpio.Invalid(`temperature must be between 0 and 2.`)
	case body.MaxTokens != nil && *body.MaxTokens < 1:
		return q, httpio.Invalid(
			`max_tokens must be 1 or more. It has no effect: answers are as long as they need to be.`,
		)
	case body.MaxCompletion != nil && *body.MaxCompletion < 1:
		return q, httpio.Invalid(
			`max_completion_tokens must be 1 or more. It has no effect: answers are as long as they need to be.`,
		)
	case len(body.Tools) > 0:
		return q, httpio.Invalid(`tools must be empty: the tools are Footnote's own, and it uses them by itself.`)
	case body.ToolChoice != "" && body.ToolChoice != "auto" && body.ToolChoice != "none":
		return q, httpio.Invalid(
			`tool_choice must be "auto" or "none": the tools are Footnote's own, and it uses them by itself.`,
		)
	}
	said, list := "", make([]ask.Said, 0, len(body.Messages))
	for _, m := range body.Messages {
		if !slices.Contains([]string{"user", "assistant", "system", "developer", "tool", "function"}, m.Role) {
			return q, httpio.Invalid(`A message's role must be "user", "assistant", "system", "developer" or "tool".`)
		}
		if m.Role == "user" && m.Content.Other() != "" {
			return q, &chat.Error{
				Code:    chat.CodeInvalid,
				Message: "A message has a part that is not text. Send text alone, and upload files as documents.",
			}
		}
		list = append(list, ask.Said{Role: m.Role, Text: m.Content.Text()})
		switch m.Role {
		case "tool", "function":
			said = ""
		case "user", "assistant":
			if m.Role == "assistant" && strings.TrimSpace(m.Content.Text()) == "" {
				continue
			}
			if m.Role == said {
				return q, httpio.Invalid(fmt.Sprintf(
					"messages has two in a row with the role %q. The roles user and assistant take turns.", said,
				))
			}
			said = m.Role
		}
	}
	if err := q.Take(list); err != nil {
		return q, err
	}
	if body.SessionID != "" {
		q.History = nil
	}
	return q, nil
}
