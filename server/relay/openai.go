package relay

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
)

// ModelName is the only model of the OpenAI-compatible API, whichever model Footnote uses.
const ModelName = "footnote"

// v1Options holds the fields that both questions of OpenAI's API have.
type v1Options struct {
	Model       string   `json:"model" api:"need,values=ModelName"` // The model to ask: footnote.
	Temperature *float64 `json:"temperature" api:"min=0,max=2"`
	// auto, none, or allowed_tools with the mode auto, which are equivalent. A required call is rejected with 400: the
	// client's tools can't be called.
	ToolChoice  V1ToolUse `json:"tool_choice" api:"shared"`
	TopLogprobs *int      `json:"top_logprobs" api:"min=0,max=0"` // Only 0: an answer has no token probabilities.
	Namespace   string    `json:"namespace" api:"form=namespace"`
	DocumentIDs []string  `json:"document_ids" api:"max=chat.MaxDocumentIDs"`

	// The following fields are ignored and may have any value: tools, which a model may always leave unused;
	// sampling parameters; and how a service stores and bills requests.

	// No effect: Footnote uses its own tools, and calls none of these.
	Tools                any `json:"tools" api:"shared"`
	ParallelToolCalls    any `json:"parallel_tool_calls"`     // No effect: the server decides which calls are made.
	TopP                 any `json:"top_p"`                   // No effect: the server sets how a model samples.
	Moderation           any `json:"moderation" api:"shared"` // No effect: nothing is sent to a service for moderation.
	User                 any `json:"user"`                    // No effect: the key identifies the user.
	SafetyIdentifier     any `json:"safety_identifier"`       // No effect: the key identifies the user.
	Metadata             any `json:"metadata"`                // No effect: it is not stored.
	ServiceTier          any `json:"service_tier"`            // No effect: there is one tier.
	PromptCacheKey       any `json:"prompt_cache_key"`        // No effect: the server caches no prompts.
	PromptCacheRetention any `json:"prompt_cache_retention"`  // No effect: the server caches no prompts.
	PromptCacheOptions   any `json:"prompt_cache_options"`    // No effect: the server caches no prompts.
	// No effect: the server stores each conversation until it is deleted, since footnotes link to it.
	Store any `json:"store"`
}

// V1ToolUse is the client's choice for its tools.
type V1ToolUse struct {
	demanded bool // a call is required, or the value is unknown
}

// UnmarshalJSON decodes "auto" and "none", which require no call, and the object that allows some tools.
func (u *V1ToolUse) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		u.demanded = !slices.Contains([]string{"", "auto", "none"}, word)
		return nil
	}
	var allowed struct {
		Type  string `json:"type"`
		Mode  string `json:"mode"` // in responses; a chat completion has it in allowed_tools
		Allow struct {
			Mode string `json:"mode"`
		} `json:"allowed_tools"`
	}
	u.demanded = json.Unmarshal(data, &allowed) != nil || allowed.Type != "allowed_tools" ||
		cmp.Or(allowed.Mode, allowed.Allow.Mode) != "auto"
	return nil
}

// refusal is a reason to refuse a question.
type refusal struct {
	applies bool
	message string
}

// Reasons to refuse options that would change the meaning of the answer. All others are ignored.
const (
	noSuchTool      = ` must be "auto" or "none": client tools can't be called.`
	noProbabilities = `: answers have no token probabilities.`
	noLimit         = ` must be 1 or more. It has no effect: the length of answers is not limited.`
	onlyText        = ` must be "text": answers are Markdown with footnotes. ` +
		`POST /agent/chat/structured returns JSON.`
)

// check refuses options that would change the meaning of the answer, and those of more.
func (o v1Options) check(more ...refusal) error {
	switch o.Model {
	case ModelName:
	case "":
		return httpio.Invalid(`The field "model" is missing. Use "footnote".`)
	default:
		return noSuchModel()
	}
	for _, r := range append(more,
		refusal{o.ToolChoice.demanded, "tool_choice" + noSuchTool},
		refusal{
			o.Temperature != nil && (*o.Temperature < 0 || *o.Temperature > 2), "temperature must be between 0 and 2.",
		},
		refusal{o.TopLogprobs != nil && *o.TopLogprobs != 0, "top_logprobs must be 0" + noProbabilities},
	) {
		if r.applies {
			return httpio.Invalid(r.message)
		}
	}
	return nil
}

// question returns a question with the options, in a session if its id is not empty.
func (o v1Options) question(session string, stream bool, list []chatMessage) (ask.Question, error) {
	q := ask.Question{SessionID: session, Namespace: o.Namespace, DocumentIDs: o.DocumentIDs, Stream: stream}
	q.Config.Temperature = o.Temperature
	err := take(&q, list)
	if session != "" {
		q.History = nil // the session has it
	}
	return q, err
}

// V1ModelInfo describes a model.
type V1ModelInfo struct {
	ID      string `json:"id" api:"values=ModelName"`
	Object  string `json:"object" api:"values=model"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"` // Always footnote.
}

// V1ModelList is the list of the models.
type V1ModelList struct {
	Object string        `json:"object" api:"values=list"`
	Data   []V1ModelInfo `json:"data"` // The models: one.
}

// footnoteModel is the one model that this API offers. Its creation time is fixed: clients require one.
var footnoteModel = V1ModelInfo{ID: ModelName, Object: "model", Created: 1767225600, OwnedBy: "footnote"}

// V1Models handles GET /v1/models.
func (h *Handlers) V1Models(c httpio.Context) error {
	return c.JSON(http.StatusOK, V1ModelList{Object: "list", Data: []V1ModelInfo{footnoteModel}})
}

// V1Model handles GET /v1/models/{model}.
func (h *Handlers) V1Model(c httpio.Context) error {
	if c.Param("model") != ModelName {
		return noSuchModel()
	}
	return c.JSON(http.StatusOK, footnoteModel)
}

// noSuchModel returns the error for any other model.
func noSuchModel() error { return httpio.NotFound(`There is no such model here. Use "footnote".`) }

// V1Failed is an error in OpenAI's schema.
type V1Failed struct {
	Error V1Error `json:"error"`
}

// V1Error is the error object of OpenAI's API.
type V1Error struct {
	Message string    `json:"message"` // a sentence for people
	Type    string    `json:"type" api:"values=invalid_request_error|authentication_error|permission_error|rate_limit_error|server_error"`
	Param   *string   `json:"param"` // Always null: the message names the field.
	Code    chat.Code `json:"code"`
}

// NewV1Failed returns the error body for a failure; its type depends on the status.
func NewV1Failed(status int, code chat.Code, message string) V1Failed {
	kind := "invalid_request_error"
	switch {
	case status == http.StatusUnauthorized:
		kind = "authentication_error"
	case status == http.StatusForbidden:
		kind = "permission_error"
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	return V1Failed{V1Error{Message: message, Type: kind, Code: code}}
}
