package v1

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
)

// ResponseQuestion is the body of POST /v1/responses. Other fields of clients are accepted and have no effect.
// MaxOutputTokens has no effect either: a truncated answer would lose its sources.
type ResponseQuestion struct {
	Model string `json:"model" api:"need,values=ModelName"` // The model to ask: footnote.
	// The question, or a conversation as messages; the last one is the question. Earlier items of other types are
	// accepted and have no effect.
	Input ResponseInput `json:"input" api:"need"`
	// Instructions added to the model's rules, 8,000 characters in all with messages of the roles system and
	// developer. They do not apply to the next response.
	Instructions string `json:"instructions" api:"max=8000"`
	Previous     string `json:"previous_response_id"` // The response that this question follows.
	// The conversation's id, or an object with it as id; an unknown id starts a new one. With it, or with
	// previous_response_id, only the last message of input is used.
	Conversation ConversationRef `json:"conversation"`
	Stream       bool            `json:"stream" api:"initial=false"` // Stream the response as events.
	// Respond at once: GET /v1/responses/{id} returns the result.
	Background  bool     `json:"background" api:"initial=false"`
	Temperature *float64 `json:"temperature" api:"min=0,max=2"`
	ToolChoice  ToolUse  `json:"tool_choice"`
	// Its format can only be text: others are refused with 400, since answers are Markdown with footnotes.
	Text *TextWish `json:"text"`
	// No effect: the length of answers is not limited.
	MaxOutputTokens *int `json:"max_output_tokens" api:"min=1"`
	// Only 0: an answer has no token probabilities.
	TopLogprobs *int      `json:"top_logprobs" api:"min=0,max=0"`
	Prompt      PromptRef `json:"prompt"` // Not supported, and refused with 400: no prompts are stored here.
	Namespace   string    `json:"namespace" api:"form=namespace"`
	DocumentIDs []string  `json:"document_ids" api:"max=chat.MaxDocumentIDs"`

	// The following fields are ignored and may have any value, as in Question.

	Tools             any `json:"tools"`
	ParallelToolCalls any `json:"parallel_tool_calls"` // No effect: the server decides which calls are made.
	MaxToolCalls      any `json:"max_tool_calls"`      // No effect: the server decides which calls are made.
	Include           any `json:"include"`             // No effect: all available data is always included.
	Reasoning         any `json:"reasoning"`           // No effect: the server sets the model's reasoning.
	// No effect: the server sets the sampling parameters, except temperature.
	TopP          any `json:"top_p"`
	StreamOptions any `json:"stream_options"` // No effect: a stream has no padding.
	// No effect: the server selects the model's context.
	Truncation any `json:"truncation"`
	// No effect: the server selects the model's context.
	ContextManagement any `json:"context_management"`
	AccessPrograms    any `json:"access_programs"` // No effect: they are OpenAI's.
	Moderation        any `json:"moderation"`
	User              any `json:"user"`              // No effect: the key identifies the user.
	SafetyIdentifier  any `json:"safety_identifier"` // No effect: the key identifies the user.
	Metadata          any `json:"metadata"`          // No effect: it is not stored.
	// No effect: the server stores each conversation until it is deleted, since footnotes link to it.
	Store                any `json:"store"`
	ServiceTier          any `json:"service_tier"`           // No effect: there is one tier.
	PromptCacheKey       any `json:"prompt_cache_key"`       // No effect: the server keeps no prompts.
	PromptCacheRetention any `json:"prompt_cache_retention"` // No effect: the server keeps no prompts.
	PromptCacheOptions   any `json:"prompt_cache_options"`   // No effect: the server keeps no prompts.
}

// TextWish is the request's text options.
type TextWish struct {
	Format    *Format `json:"format"`    // The form of the answer.
	Verbosity any     `json:"verbosity"` // No effect: the server sets the sampling parameters.
}

// PromptRef refers to a prompt stored at OpenAI, which is not supported.
type PromptRef struct{}

// UnmarshalJSON accepts only null.
func (PromptRef) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		return httpio.Invalid(`prompt must be left out: no prompts are kept here. Send its text as instructions.`)
	}
	return nil
}

// ConversationRef is a conversation's id, or an object with it.
type ConversationRef struct{ id string }

// UnmarshalJSON decodes both forms. null is the empty reference.
func (r *ConversationRef) UnmarshalJSON(data []byte) error {
	var named struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(data, &r.id) == nil {
		return nil
	}
	if json.Unmarshal(data, &named) != nil || named.ID == "" {
		return httpio.Invalid(`conversation must be a conversation's id, or an object such as {"id": "…"}.`)
	}
	r.id = named.ID
	return nil
}

// toQuestion validates a body and converts it to a question: the last message is the question, and the earlier ones
// are the conversation. The server adds the turns before a previous response that it names.
func (h *Handlers) toQuestion(c httpio.Context, body ResponseQuestion) (ask.Question, error) {
	q := ask.Question{
		SessionID: body.Conversation.id, Namespace: body.Namespace, DocumentIDs: body.DocumentIDs, Stream: body.Stream,
	}
	q.Config.Temperature = body.Temperature
	if err := body.checkFields(); err != nil {
		return q, err
	}
	said, err := body.Input.said()
	if err != nil {
		return q, err
	}
	if strings.TrimSpace(body.Instructions) != "" {
		said = append([]ask.Said{{Role: "developer", Text: body.Instructions}}, said...)
	}
	if err := q.Take(said); err != nil {
		return q, err
	}
	if q.SessionID != "" {
		q.History = nil
	}
	if body.Previous == "" {
		return q, nil
	}
	before, err := h.findResponse(c, body.Previous)
	if err != nil {
		return q, err
	}
	return q, h.Questions.Follow(c, &q, before)
}

// checkFields refuses options that change the meaning of the answer.
func (body ResponseQuestion) checkFields() error {
	switch body.Model {
	case ModelName:
	case "":
		return httpio.Invalid(`The field "model" is missing. Use "footnote".`)
	default:
		return noSuchModel()
	}
	switch {
	case body.Previous != "" && body.Conversation.id != "":
		return httpio.Invalid(`previous_response_id and conversation can't both be given: each says what came before.`)
	case body.MaxOutputTokens != nil && *body.MaxOutputTokens < 1:
		return httpio.Invalid(`max_output_tokens must be 1 or more. It has no effect: answers are as long as they ` +
			`need to be.`)
	case body.ToolChoice.demanded:
		return noSuchTool("tool_choice")
	case body.Temperature != nil && (*body.Temperature < 0 || *body.Temperature > 2):
		return httpio.Invalid(`temperature must be between 0 and 2.`)
	case body.Text != nil && body.Text.Format != nil && body.Text.Format.Type != "text":
		return httpio.Invalid(`text.format must be "text": answers are Markdown with footnotes. ` +
			`POST /agent/chat/structured answers with JSON of its own.`)
	case body.TopLogprobs != nil && *body.TopLogprobs != 0:
		return httpio.Invalid(`top_logprobs must be 0: an answer has no probabilities of tokens.`)
	}
	return nil
}

// ResponseInput is the question: a text, or a conversation as items.
type ResponseInput struct{ items []inputItem }

// inputItem is one item of an input. Items other than messages are not decoded.
type inputItem struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// UnmarshalJSON decodes both forms.
func (in *ResponseInput) UnmarshalJSON(data []byte) error {
	var text *string
	if json.Unmarshal(data, &text) == nil {
		if text != nil {
			in.items = []inputItem{{Role: "user", Content: data}}
		}
		return nil
	}
	if json.Unmarshal(data, &in.items) != nil {
		return httpio.Invalid(`input must be text, or a list of messages such as {"role": "user", "content": "…"}.`)
	}
	return nil
}

// said returns the conversation: the messages among the items.
func (in ResponseInput) said() ([]ask.Said, error) {
	if len(in.items) == 0 {
		return nil, httpio.Invalid(`The field "input" is empty. Send the question as text, or at least one message.`)
	}
	var said []ask.Said
	for i, item := range in.items {
		last := i == len(in.items)-1
		if item.Type != "" && item.Type != "message" || item.Type == "" && item.Role == "" {
			if last {
				return nil, httpio.Invalid(`The last item of input must be a message with the role "user": it is the ` +
					`question.`)
			}
			continue
		}
		if !slices.Contains([]string{"user", "assistant", "system", "developer"}, item.Role) {
			return nil, httpio.Invalid(`A message's role must be "user", "assistant", "system" or "developer".`)
		}
		var content ask.Content
		if len(item.Content) > 0 {
			if err := json.Unmarshal(item.Content, &content); err != nil {
				return nil, err
			}
		}
		text, err := legibleText(item.Role, content, last)
		if err != nil {
			return nil, err
		}
		said = append(said, ask.Said{ID: strings.TrimPrefix(item.ID, "msg_"), Role: item.Role, Text: text})
	}
	return said, nil
}
