package relay

import (
	"net/http"
	"slices"

	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
)

// V1Question is the body of POST /v1/chat/completions. Other fields of clients are accepted and have no effect.
// MaxTokens and MaxCompletionTokens have no effect either: a truncated answer would lose its sources.
type V1Question struct {
	v1Options
	// The conversation; the last message is the question, the earlier ones are turns.
	Messages []V1Message `json:"messages" api:"need,min=1"`
	// Stream chunks as server-sent events, ended by [DONE].
	Stream        bool      `json:"stream" api:"initial=false"`
	StreamOptions *V1Stream `json:"stream_options"` // Options of the stream.
	Seed          *int64    `json:"seed"`
	N             *int      `json:"n" api:"min=1,max=1"` // The number of answers: 1.
	// Must be text; other formats are rejected with 400, since answers are Markdown with footnotes.
	ResponseFormat *V1Format `json:"response_format"`
	FunctionCall   V1ToolUse `json:"function_call"`                // Same as tool_choice.
	Logprobs       *bool     `json:"logprobs" api:"only=false"`    // Only false: an answer has no token probabilities.
	Modalities     []string  `json:"modalities" api:"values=text"` // Only text: answers are not spoken.
	MaxTokens      *int      `json:"max_tokens" api:"min=1"`       // No effect: the length of answers is not limited.
	// No effect: the length of answers is not limited.
	MaxCompletion *int `json:"max_completion_tokens" api:"min=1"`
	// Continue this conversation of the server; then only the last message is used. Without it each request is a
	// conversation.
	SessionID string `json:"session_id" api:"form=maybe"`

	// The following fields are ignored and may have any value.

	Functions        any `json:"functions"`          // No effect: Footnote uses its own tools, and calls none of these.
	FrequencyPenalty any `json:"frequency_penalty"`  // No effect: the server sets how a model samples.
	PresencePenalty  any `json:"presence_penalty"`   // No effect: the server sets how a model samples.
	LogitBias        any `json:"logit_bias"`         // No effect: the server sets how a model samples.
	Stop             any `json:"stop"`               // No effect: a truncated answer would lose its sources.
	ReasoningEffort  any `json:"reasoning_effort"`   // No effect: the server sets the model's reasoning.
	Verbosity        any `json:"verbosity"`          // No effect: answers are as long as they need to be.
	Prediction       any `json:"prediction"`         // No effect: the server sets how a model samples.
	Audio            any `json:"audio"`              // No effect: answers are not spoken.
	WebSearchOptions any `json:"web_search_options"` // No effect: the server decides where to search.
}

// V1Message is one message of a conversation.
type V1Message struct {
	// user and assistant make the conversation. system and developer are instructions added to the model's rules,
	// 8,000 characters in all. The others are accepted and have no effect.
	Role string `json:"role" api:"need,values=user|assistant|system|developer|tool|function"`
	// The text, or parts of it. In an earlier question a part that is not text is replaced by a note to the model;
	// in the question itself it is refused with 400.
	Content Content `json:"content"`
}

// V1Stream is the request's stream_options.
type V1Stream struct {
	IncludeUsage bool `json:"include_usage"` // Send the token usage in a last chunk.
}

// V1Format is the request's response_format.
type V1Format struct {
	Type string `json:"type" api:"need,values=text"` // The form of the answer.
}

// V1Chat handles POST /v1/chat/completions.
func (h *Handlers) V1Chat(c httpio.Context) error {
	var body V1Question
	if err := h.Bodies.ReadOpenJSON(c, &body); err != nil {
		return err
	}
	q, err := body.toQuestion()
	if err != nil {
		return err
	}
	run, err := h.Questions.Start(c, q)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	if body.Stream {
		usage := body.StreamOptions != nil && body.StreamOptions.IncludeUsage
		return h.stream(c, run, &completionEncoder{usage: usage}, unnumbered)
	}
	t, err := h.awaitAnswer(c, run)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, newCompletion(t, httpio.Origin(c)))
}

// toQuestion validates a body and converts it to a question.
func (body V1Question) toQuestion() (ask.Question, error) {
	less := func(n *int) bool { return n != nil && *n < 1 }
	if err := body.check(
		refusal{less(body.MaxTokens), "max_tokens" + noLimit},
		refusal{less(body.MaxCompletion), "max_completion_tokens" + noLimit},
		refusal{body.FunctionCall.demanded, "function_call" + noSuchTool},
		refusal{body.N != nil && *body.N != 1, "n must be 1: a question has one answer."},
		refusal{body.ResponseFormat != nil && body.ResponseFormat.Type != "text", "response_format" + onlyText},
		refusal{body.Logprobs != nil && *body.Logprobs, "logprobs must be false" + noProbabilities},
		refusal{
			slices.ContainsFunc(body.Modalities, func(kind string) bool { return kind != "text" }),
			`modalities can only have "text": answers are Markdown with footnotes.`,
		},
	); err != nil {
		return ask.Question{}, err
	}
	list := make([]chatMessage, 0, len(body.Messages))
	for _, m := range body.Messages {
		if !slices.Contains([]string{"user", "assistant", "system", "developer", "tool", "function"}, m.Role) {
			return ask.Question{}, httpio.Invalid(
				`A message's role must be "user", "assistant", "system", "developer" or "tool".`,
			)
		}
		list = append(list, m.Content.message("", m.Role))
	}
	q, err := body.question(body.SessionID, body.Stream, list)
	q.Config.Seed = body.Seed
	return q, err
}
