package openapi

import (
	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	v1 "footnote/server/v1"
)

// v1Fields says of the fields of the OpenAI-compatible API what their types do not.
func v1Fields() map[string]field {
	length := field{about: "No effect: answers are as long as they need to be.", Min: to(1)}
	wording := field{
		about: "No effect: how a model draws its words is the server's matter, but for temperature and seed.",
	}
	tool := field{about: "No effect: the tools are Footnote's own, and it uses them by itself. It calls none of these."}
	toolUse := field{
		about: "auto, none, or allowed_tools with the mode auto, which are the same here. To demand a call is " +
			"refused " +
			"with 400: no tool of the client can be called.",
	}
	cache := field{about: "No effect: the server keeps no prompts."}
	person := field{about: "No effect: who asks follows from the key."}
	return map[string]field{
		"V1Question.model": {
			about: "The model to ask: footnote.", need: true, values: []string{v1.ModelName},
		},
		"V1Question.messages": {
			about: "The conversation; the last message is the question, those before it are turns.", need: true,
			Min: to(1),
		},
		"V1Question.stream": {
			about: "Answer with chunks as server-sent events, ended by [DONE].", initial: false,
		},
		"V1Question.temperature": {Min: to(0), Max: to(2)},
		"V1Question.n":           {about: "How many answers: 1.", Min: to(1), Max: to(1)},
		"V1Question.response_format": {
			about: "Only text: another form is refused with 400, since answers are Markdown with footnotes.",
		},
		"V1Question.logprobs": {
			about: "Only false: an answer has no probabilities of tokens.", only: false,
		},
		"V1Question.top_logprobs": {about: "Only 0, as logprobs.", Min: to(0), Max: to(0)},
		"V1Question.modalities": {
			about: "Only text: answers are not spoken.", values: []string{"text"},
		},
		"V1Question.tool_choice":           toolUse,
		"V1Question.function_call":         toolUse,
		"V1Question.max_tokens":            length,
		"V1Question.max_completion_tokens": length,
		"V1Question.session_id": {
			about: "Go on with this conversation of the server; then only the last message is used. Without it " +
				"each request is a conversation.",
			pattern: maybeForm,
		},
		"V1Question.namespace": {
			about:   "Only documents of this namespace; none: of all. One without documents is refused with 404.",
			pattern: namespaceForm, Max: to(128),
		},
		"V1Question.document_ids": {
			about: "Only these documents. One that is not there is refused with 404.", Max: to(chat.MaxDocumentIDs),
		},

		"V1Question.tools":               tool,
		"V1Question.parallel_tool_calls": tool,
		"V1Question.functions":           tool,
		"V1Question.top_p":               wording,
		"V1Question.frequency_penalty":   wording,
		"V1Question.presence_penalty":    wording,
		"V1Question.logit_bias":          wording,
		"V1Question.reasoning_effort":    wording,
		"V1Question.verbosity":           wording,
		"V1Question.prediction":          wording,
		"V1Question.stop":                {about: "No effect: an answer that is cut would lose its sources."},
		"V1Question.audio":               {about: "No effect: answers are not spoken."},
		"V1Question.web_search_options":  {about: "No effect: where it looks is the server's matter."},
		"V1Question.moderation":          {about: "No effect: nothing is sent to a service for moderation."},
		"V1Question.user":                person,
		"V1Question.safety_identifier":   person,
		"V1Question.metadata":            {about: "No effect: it is not kept."},
		"V1Question.store": {
			about: "No effect: the server keeps each conversation until it is deleted.",
		},
		"V1Question.service_tier":           {about: "No effect: there is one tier."},
		"V1Question.prompt_cache_key":       cache,
		"V1Question.prompt_cache_retention": cache,
		"V1Question.prompt_cache_options":   cache,

		"V1Message.role": {
			need: true, values: []string{"user", "assistant", "system", "developer", "tool", "function"},
			about: "user and assistant make the conversation; system and developer are told to the model besides its " +
				"rules, 8,000 characters in all; the others are let in and have no effect.",
		},
		"V1Message.content": {
			about: "The text, or parts of it. Of an earlier question a part that is not text is left out, and the " +
				"model " +
				"told so; in the question itself it is refused with 400.",
		},
		"V1Format.type":         {need: true, values: []string{"text"}, about: "The form of the answer."},
		"V1Completion.id":       {about: `"chatcmpl-" and the run's id.`},
		"V1Chunk.id":            {about: `"chatcmpl-" and the run's id.`},
		"V1Completion.footnote": {about: "How far the answer can be relied on, and why."},
		"V1Chunk.footnote": {
			about: "How far the answer can be relied on, and why: in the chunk with the finish_reason.",
		},
		"V1Choice.message":       {about: "The answer."},
		"V1Choice.finish_reason": {values: []string{"stop"}},
		"V1Completion.object":    {values: []string{"chat.completion"}},
		"V1Chunk.object":         {values: []string{"chat.completion.chunk"}},
		"V1Error.type": {values: []string{
			"invalid_request_error", "authentication_error", "permission_error", "rate_limit_error", "server_error",
		}},
		"V1ModelInfo.id":     {values: []string{v1.ModelName}},
		"V1ModelList.object": {values: []string{"list"}},
		"V1ModelInfo.object": {values: []string{"model"}},
		"V1Annotation.type":  {values: []string{"url_citation"}},
		"V1Reply.role":       {values: []string{"assistant"}},
		"V1Reply.content":    {about: "The answer, in Markdown with footnotes [N]."},
	}
}

// toolUseSchema is what may be wanted of a client's own tools.
func toolUseSchema() *jsonschema.Schema {
	allowed, auto := any("allowed_tools"), any("auto")
	words := append(listValues("auto", "none", ""), nil)
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Types: []string{"string", "null"}, Enum: words},
		{Type: "object", Required: []string{"type", "allowed_tools"}, Properties: map[string]*jsonschema.Schema{
			"type": {Const: &allowed},
			"allowed_tools": {
				Type:       "object",
				Required:   []string{"mode"},
				Properties: map[string]*jsonschema.Schema{"mode": {Const: &auto}},
			},
		}},
		{Type: "object", Required: []string{"type", "mode"}, Properties: map[string]*jsonschema.Schema{
			"type": {Const: &allowed}, "mode": {Const: &auto},
		}},
	}}
}
