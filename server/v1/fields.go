package v1

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/footnote/footnote/server/httpio"
)

// ToolUse is the client's choice for its tools.
type ToolUse struct {
	demanded bool // a call is required, or the value is unknown
}

// UnmarshalJSON decodes "auto" and "none", which require no call, and the object that allows some tools.
func (u *ToolUse) UnmarshalJSON(data []byte) error {
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

// noSuchTool returns the error for a field that requires a call of a client's tool.
func noSuchTool(field string) error {
	return httpio.Invalid(field + ` must be "auto" or "none": no tool of yours can be called here. ` +
		`The tools are Footnote's own, and it uses them by itself.`)
}

// checkFields refuses options that change the meaning of the answer. All others are ignored.
func (body Question) checkFields() error {
	for _, limit := range []struct {
		name  string
		value *int
	}{{"max_tokens", body.MaxTokens}, {"max_completion_tokens", body.MaxCompletion}} {
		if limit.value != nil && *limit.value < 1 {
			return httpio.Invalid(
				limit.name + ` must be 1 or more. It has no effect: answers are as long as they need to be.`,
			)
		}
	}
	for _, use := range []struct {
		name  string
		value ToolUse
	}{{"tool_choice", body.ToolChoice}, {"function_call", body.FunctionCall}} {
		if use.value.demanded {
			return noSuchTool(use.name)
		}
	}
	switch {
	case body.Temperature != nil && (*body.Temperature < 0 || *body.Temperature > 2):
		return httpio.Invalid(`temperature must be between 0 and 2.`)
	case body.N != nil && *body.N != 1:
		return httpio.Invalid(`n must be 1: a question has one answer here.`)
	case body.ResponseFormat != nil && body.ResponseFormat.Type != "text":
		return httpio.Invalid(`response_format must be "text": answers are Markdown with footnotes. ` +
			`POST /agent/chat/structured answers with JSON of its own.`)
	case body.Logprobs != nil && *body.Logprobs, body.TopLogprobs != nil && *body.TopLogprobs != 0:
		return httpio.Invalid(`logprobs must be false and top_logprobs 0: an answer has no probabilities of tokens.`)
	case slices.ContainsFunc(body.Modalities, func(kind string) bool { return kind != "text" }):
		return httpio.Invalid(`modalities can only have "text": answers are Markdown with footnotes.`)
	}
	return nil
}
