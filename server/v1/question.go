// Package v1 serves clients made for OpenAI's API: a chat completion is a run whose answer has its footnotes as
// annotations. Other fields of such clients, such as tools of their own, are accepted and ignored, unless ignoring
// them would change the meaning of the answer. Streams send the answer as it is written; a run that a guardrail
// ended is a completion with a sentence about that.
package v1

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// ModelName is the only model of the OpenAI-compatible API, whichever model Footnote uses.
const ModelName = "footnote"

// modelCreated is the model's fixed creation time in Unix seconds, which clients require.
const modelCreated = 1767225600

// Handlers serves the routes below /v1.
type Handlers struct {
	Store     chat.Store
	Runs      Canceller
	Logs      *runlog.Reader
	Questions *ask.Questions
	Bodies    httpio.Bodies
	Streams   *httpio.Streams
}

// Canceller cancels runs.
type Canceller interface {
	Cancel(ctx context.Context, scope chat.Scope, runID string) error
}

// Question is the body of POST /v1/chat/completions. Other fields of clients are accepted and have no effect.
// MaxTokens and MaxCompletionTokens have no effect either: a truncated answer would lose its sources.
type Question struct {
	Model string `json:"model" api:"need,values=ModelName"` // The model to ask: footnote.
	// The conversation; the last message is the question, the earlier ones are turns.
	Messages []Message `json:"messages" api:"need,min=1"`
	// Stream chunks as server-sent events, ended by [DONE].
	Stream        bool     `json:"stream" api:"initial=false"`
	StreamOptions *Stream  `json:"stream_options"` // Options of the stream.
	Temperature   *float64 `json:"temperature" api:"min=0,max=2"`
	Seed          *int64   `json:"seed"`
	N             *int     `json:"n" api:"min=1,max=1"` // The number of answers: 1.
	// Only text: other formats are refused with 400, since answers are Markdown with footnotes.
	ResponseFormat *Format `json:"response_format"`
	// auto, none, or allowed_tools with the mode auto, which are equivalent here. A required call is refused with
	// 400: the client's tools can't be called.
	ToolChoice ToolUse `json:"tool_choice" api:"shared"`
	// auto, none, or allowed_tools with the mode auto, which are equivalent here. A required call is refused with
	// 400: the client's tools can't be called.
	FunctionCall ToolUse `json:"function_call"`
	// Only false: an answer has no token probabilities.
	Logprobs    *bool    `json:"logprobs" api:"only=false"`
	TopLogprobs *int     `json:"top_logprobs" api:"min=0,max=0"` // Only 0, as logprobs.
	Modalities  []string `json:"modalities" api:"values=text"`   // Only text: answers are not spoken.
	MaxTokens   *int     `json:"max_tokens" api:"min=1"`         // No effect: the length of answers is not limited.
	// No effect: the length of answers is not limited.
	MaxCompletion *int `json:"max_completion_tokens" api:"min=1"`
	// Continue this conversation of the server; then only the last message is used. Without it each request is a
	// conversation.
	SessionID   string   `json:"session_id" api:"form=maybe"`
	Namespace   string   `json:"namespace" api:"form=namespace"`
	DocumentIDs []string `json:"document_ids" api:"max=chat.MaxDocumentIDs"`

	// The following fields are ignored and may have any value: tools, which a model may always leave unused;
	// sampling parameters; and how a service stores and bills requests.

	// No effect: Footnote uses its own tools, and calls none of these.
	Tools any `json:"tools" api:"shared"`
	// No effect: Footnote uses its own tools, and calls none of these.
	ParallelToolCalls any `json:"parallel_tool_calls"`
	// No effect: Footnote uses its own tools, and calls none of these.
	Functions any `json:"functions"`
	// No effect: the server sets the sampling parameters, except temperature and seed.
	TopP any `json:"top_p"`
	// No effect: the server sets the sampling parameters, except temperature and seed.
	FrequencyPenalty any `json:"frequency_penalty"`
	// No effect: the server sets the sampling parameters, except temperature and seed.
	PresencePenalty any `json:"presence_penalty"`
	// No effect: the server sets the sampling parameters, except temperature and seed.
	LogitBias any `json:"logit_bias"`
	Stop      any `json:"stop"` // No effect: a truncated answer would lose its sources.
	// No effect: the server sets the sampling parameters, except temperature and seed.
	ReasoningEffort any `json:"reasoning_effort"`
	// No effect: the server sets the sampling parameters, except temperature and seed.
	Verbosity any `json:"verbosity"`
	// No effect: the server sets the sampling parameters, except temperature and seed.
	Prediction       any `json:"prediction"`
	Audio            any `json:"audio"`                   // No effect: answers are not spoken.
	WebSearchOptions any `json:"web_search_options"`      // No effect: the server decides where to search.
	Moderation       any `json:"moderation" api:"shared"` // No effect: nothing is sent to a service for moderation.
	User             any `json:"user"`                    // No effect: the key identifies the user.
	SafetyIdentifier any `json:"safety_identifier"`       // No effect: the key identifies the user.
	Metadata         any `json:"metadata"`                // No effect: it is not stored.
	// No effect: the server stores each conversation until it is deleted.
	Store                any `json:"store"`
	ServiceTier          any `json:"service_tier"`           // No effect: there is one tier.
	PromptCacheKey       any `json:"prompt_cache_key"`       // No effect: the server caches no prompts.
	PromptCacheRetention any `json:"prompt_cache_retention"` // No effect: the server caches no prompts.
	PromptCacheOptions   any `json:"prompt_cache_options"`   // No effect: the server caches no prompts.
}

// Message is one message of a conversation.
type Message struct {
	// user and assistant make the conversation. system and developer are instructions added to the model's rules,
	// 8,000 characters in all. The others are accepted and have no effect.
	Role string `json:"role" api:"need,values=user|assistant|system|developer|tool|function"`
	// The text, or parts of it. In an earlier question a part that is not text is replaced by a note to the model;
	// in the question itself it is refused with 400.
	Content ask.Content `json:"content"`
}

// Stream is the request's stream_options.
type Stream struct {
	IncludeUsage bool `json:"include_usage"` // Send the token usage in a last chunk.
}

// Format is the request's response_format.
type Format struct {
	Type string `json:"type" api:"need,values=text"` // The form of the answer.
}

// ModelInfo describes a model.
type ModelInfo struct {
	ID      string `json:"id" api:"values=ModelName"`
	Object  string `json:"object" api:"values=model"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"` // Always footnote.
}

// ModelList is the list of the models.
type ModelList struct {
	Object string      `json:"object" api:"values=list"`
	Data   []ModelInfo `json:"data"` // The models: one.
}

// footnoteModel describes the one model that this API offers.
func footnoteModel() ModelInfo {
	return ModelInfo{ID: ModelName, Object: "model", Created: modelCreated, OwnedBy: "footnote"}
}

// Models handles GET /v1/models.
func (h *Handlers) Models(c httpio.Context) error {
	return c.JSON(http.StatusOK, ModelList{Object: "list", Data: []ModelInfo{footnoteModel()}})
}

// Model handles GET /v1/models/{model}.
func (h *Handlers) Model(c httpio.Context) error {
	if c.Param("model") != ModelName {
		return noSuchModel()
	}
	return c.JSON(http.StatusOK, footnoteModel())
}

// noSuchModel returns the error for any other model.
func noSuchModel() error { return httpio.NotFound(`There is no such model here. Use "footnote".`) }

// Chat handles POST /v1/chat/completions.
func (h *Handlers) Chat(c httpio.Context) error {
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

// toQuestion validates a body and converts it to a question: the last message is the question, and the earlier ones
// are the conversation.
func (body Question) toQuestion() (ask.Question, error) {
	q := ask.Question{SessionID: body.SessionID, Namespace: body.Namespace, DocumentIDs: body.DocumentIDs}
	q.Config.Temperature, q.Config.Seed = body.Temperature, body.Seed
	switch body.Model {
	case ModelName:
	case "":
		return q, httpio.Invalid(`The field "model" is missing. Use "footnote".`)
	default:
		return q, noSuchModel()
	}
	if err := body.checkFields(); err != nil {
		return q, err
	}
	list := make([]ask.Said, 0, len(body.Messages))
	for i, m := range body.Messages {
		if !slices.Contains([]string{"user", "assistant", "system", "developer", "tool", "function"}, m.Role) {
			return q, httpio.Invalid(`A message's role must be "user", "assistant", "system", "developer" or "tool".`)
		}
		text, err := legibleText(m.Role, m.Content, i == len(body.Messages)-1)
		if err != nil {
			return q, err
		}
		list = append(list, ask.Said{Role: m.Role, Text: text})
	}
	if err := q.Take(list); err != nil {
		return q, err
	}
	if body.SessionID != "" {
		q.History = nil
	}
	return q, nil
}

// legibleText returns the text of a message. A part that is not text is refused in the question, the last message.
func legibleText(role string, content ask.Content, last bool) (string, error) {
	switch {
	case content.Other() == "" || role != "user":
		return content.Text(), nil
	case last:
		return "", httpio.Invalid(
			"The question has a part that is not text. Send text alone, and upload files as documents.",
		)
	}
	return strings.TrimSpace(content.Text() + "\n\n" + unread), nil
}

// unread replaces the parts of an earlier question that are not text, so that the model knows of them.
const unread = "(This question had a part that is not text and can't be read.)"
