package relay

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
)

// V1ResponseQuestion is the body of POST /v1/responses. Other fields of clients are accepted and have no effect.
// MaxOutputTokens has no effect either: a truncated answer would lose its sources.
type V1ResponseQuestion struct {
	v1Options
	// The question, or a conversation as messages; the last one is the question. Earlier items of other types are
	// accepted and have no effect.
	Input V1ResponseInput `json:"input" api:"need"`
	// Instructions added to the model's rules, 8,000 characters in all with messages of the roles system and
	// developer. They do not apply to the next response.
	Instructions string `json:"instructions" api:"max=8000"`
	Previous     string `json:"previous_response_id"` // The response that this question follows.
	// The conversation's id, or an object with it as id; an unknown id starts a new one. With it, or with
	// previous_response_id, only the last message of input is used.
	Conversation V1ConversationRef `json:"conversation"`
	Stream       bool              `json:"stream" api:"initial=false"` // Stream the response as events.
	// Return immediately; GET /v1/responses/{id} returns the result.
	Background bool `json:"background" api:"initial=false"`
	// The format must be text; others are rejected with 400, since answers are Markdown with footnotes.
	Text *V1TextWish `json:"text"`
	// No effect: the length of answers is not limited.
	MaxOutputTokens *int        `json:"max_output_tokens" api:"min=1"`
	Prompt          V1PromptRef `json:"prompt"` // Not supported: rejected with 400.

	// The following fields are ignored and may have any value.

	MaxToolCalls      any `json:"max_tool_calls"`     // No effect: the server decides which calls are made.
	Include           any `json:"include"`            // No effect: all available data is always included.
	Reasoning         any `json:"reasoning"`          // No effect: the server sets the model's reasoning.
	StreamOptions     any `json:"stream_options"`     // No effect: a stream has no padding.
	Truncation        any `json:"truncation"`         // No effect: the server selects the model's context.
	ContextManagement any `json:"context_management"` // No effect: the server selects the model's context.
	AccessPrograms    any `json:"access_programs"`    // No effect: they are OpenAI's.
}

// V1TextWish is the request's text options.
type V1TextWish struct {
	Format    *V1Format `json:"format"`    // The form of the answer.
	Verbosity any       `json:"verbosity"` // No effect: answers are as long as they need to be.
}

// V1PromptRef refers to a prompt stored at OpenAI, which is not supported.
type V1PromptRef struct{}

// UnmarshalJSON accepts only null.
func (V1PromptRef) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		return httpio.Invalid(`prompt is not supported. Send its text as instructions.`)
	}
	return nil
}

// V1ConversationRef is a conversation's id, or an object with it.
type V1ConversationRef struct{ id string }

// UnmarshalJSON decodes both forms. null is the empty reference.
func (r *V1ConversationRef) UnmarshalJSON(data []byte) error {
	var named struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(data, &r.id) == nil {
		return nil
	}
	if json.Unmarshal(data, &named) != nil || named.ID == "" {
		return httpio.Invalid(`conversation must be a conversation ID, or an object such as {"id": "…"}.`)
	}
	r.id = named.ID
	return nil
}

// toQuestion validates a body and converts it to a question. The server adds the turns before a previous response that
// it names.
func (h *Handlers) toQuestion(c httpio.Context, body V1ResponseQuestion) (q ask.Question, err error) {
	if err := body.check(
		refusal{
			body.Previous != "" && body.Conversation.id != "",
			"previous_response_id and conversation are mutually exclusive.",
		},
		refusal{body.MaxOutputTokens != nil && *body.MaxOutputTokens < 1, "max_output_tokens" + noLimit},
		refusal{
			body.Text != nil && body.Text.Format != nil && body.Text.Format.Type != "text", "text.format" + onlyText,
		},
	); err != nil {
		return q, err
	}
	list, err := body.Input.messages()
	if err != nil {
		return q, err
	}
	list = append([]chatMessage{{role: "developer", text: body.Instructions}}, list...)
	if q, err = body.question(body.Conversation.id, body.Stream, list); err != nil || body.Previous == "" {
		return q, err
	}
	before, err := h.findResponse(c, body.Previous)
	if err != nil {
		return q, err
	}
	return q, h.follow(c, &q, before)
}

// V1ResponseInput is the question: a text, or a conversation as items.
type V1ResponseInput struct{ items []inputItem }

// inputItem is one item of an input. Items other than messages are not decoded.
type inputItem struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// UnmarshalJSON decodes both forms.
func (in *V1ResponseInput) UnmarshalJSON(data []byte) error {
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

// messages returns the conversation: the messages among the items.
func (in V1ResponseInput) messages() (list []chatMessage, err error) {
	if len(in.items) == 0 {
		return nil, httpio.Invalid(`The field "input" is empty. Send the question as text, or at least one message.`)
	}
	for i, item := range in.items {
		if item.Type != "" && item.Type != "message" || item.Type == "" && item.Role == "" {
			if i == len(in.items)-1 {
				return nil, httpio.Invalid(`The last item of input must be a message with the role "user".`)
			}
			continue
		}
		if !slices.Contains([]string{"user", "assistant", "system", "developer"}, item.Role) {
			return nil, httpio.Invalid(`A message's role must be "user", "assistant", "system" or "developer".`)
		}
		var content Content
		if len(item.Content) > 0 {
			if err := json.Unmarshal(item.Content, &content); err != nil {
				return nil, err
			}
		}
		list = append(list, content.message(strings.TrimPrefix(item.ID, "msg_"), item.Role))
	}
	return list, nil
}
