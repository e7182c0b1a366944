package v1

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/footnote/footnote/server/httpio"
)

// ToolUse is what a client wants to be done with its tools.
type ToolUse struct {
	demanded bool // one of them must be called, or it is not known what is wanted
}

// UnmarshalJSON reads "auto" and "none", which leave the tools alone, and the object that allows some of them.
func (u *ToolUse) UnmarshalJSON(data []byte) error {
	var word string
	if json.Unmarshal(data, &word) == nil {
		u.demanded = !slices.Contains([]string{"", "auto", "none"}, word)
		return nil
	}
	var allowed struct {
		Type  string `json:"type"`
		Mode  string `json:"mode"` // of a response; a chat completion has it in allowed_tools
		Allow struct {
			Mode string `json:"mode"`
		} `json:"allowed_tools"`
	}
	u.demanded = json.Unmarshal(data, &allowed) != nil || allowed.Type != "allowed_tools" ||
		cmp.Or(allowed.Mode, allowed.Allow.Mode) != "auto"
	return nil
}

// noSuchTool is the error for a field that demands a call of a client's tool.
func noSuchTool(field string) error {
	return httpio.Invalid(field + ` must be "auto" or "none": no tool of yours can be called here. ` +
		`The tools are Footnote's own, and it uses them by itself.`)
}

// checkFields refuses what would make the answer another one than the client takes it for. Everything else that it may
// ask for can be left alone.
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
