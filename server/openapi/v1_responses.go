package openapi

import (
	"net/http"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	v1 "footnote/server/v1"
)

// responseParts are what the events and the output of a response are made of.
var responseParts = []any{
	v1.ResponseEvent{}, v1.MessageItem{}, v1.FileSearchItem{}, v1.WebSearchItem{}, v1.ReasoningItem{},
}

func responseOperations() []Operation {
	id := parameter{
		in: "path", name: "id", need: true, schema: textSchema(), about: `The response's id: "resp_" and the run's id.`,
	}
	return []Operation{
		{
			Method: "POST", Path: "/v1/responses", group: "OpenAI-compatible",
			summary: "Ask as one asks OpenAI's Responses API",
			about: "A response is a run: its searches come as items of type file_search_call with what they found " +
				"(web_search_call for the web), its other steps as reasoning, the answer as a message. Footnotes are " +
				"in the text as [N] and as annotations of type url_citation, whose indexes count characters, with " +
				"the document's file_id and the words as quote. previous_response_id goes on behind that response, " +
				"also behind one that others follow. With background the response is answered at once, under way. " +
				"Fields are taken and refused as for chat completions.",
			body: v1.ResponseQuestion{}, open: true, params: []parameter{onceParam},
			fails: slices.Concat(waitFails, []chat.Code{chat.CodeGuardrail, chat.CodeConflict}),
			example: map[string]any{
				"model": v1.ModelName, "input": "When was the roof last repaired?",
			},
			outcomes: []outcome{
				{status: http.StatusOK, about: "The response.", body: v1.Response{}},
				{
					status: http.StatusOK,
					about: "With stream: events (V1ResponseEvent) as server-sent events. The last one is " +
						"response.completed, response.failed, or response.incomplete for a run that was stopped.",
					kind: eventsKind,
				},
			},
		},
		{
			Method: "GET", Path: "/v1/responses/:id", group: "OpenAI-compatible", summary: "Get a response",
			about: "As far as it is. With stream its events, with starting_after only those behind that number.",
			params: []parameter{
				id,
				{in: "query", name: "stream", schema: oneOf("false", "true"), about: "Its events instead."},
				{
					in: "query", name: "starting_after", schema: wholeSchema(0, 1<<30, "0"),
					about: "With stream: go on behind the event with this sequence_number.",
				},
			},
			fails: []chat.Code{chat.CodeInvalid, chat.CodeNotFound, chat.CodeTooMany},
			outcomes: []outcome{
				{status: http.StatusOK, about: "The response.", body: v1.Response{}},
				{status: http.StatusOK, about: "With stream: its events.", kind: eventsKind},
			},
		},
		{
			Method: "POST", Path: "/v1/responses/:id/cancel", group: "OpenAI-compatible", summary: "Stop a response",
			about:  "It need not be in the background. One that is over stays as it is.",
			params: []parameter{id}, fails: []chat.Code{chat.CodeNotFound},
			outcomes: []outcome{
				{status: http.StatusOK, about: "The response as it ended.", body: v1.Response{}},
			},
		},
	}
}

// responseFields says of the fields of the Responses API what their types do not.
func responseFields() map[string]field {
	out := map[string]field{
		"V1ResponseQuestion.model": {
			about: "The model to ask: footnote.", need: true, values: []string{v1.ModelName},
		},
		"V1ResponseQuestion.input": {
			about: "The question, or a conversation as messages; the last one is the question. Items of other types " +
				"before it are let in and have no effect.",
			need: true,
		},
		"V1ResponseQuestion.instructions": {
			about: "Told to the model besides its rules, 8,000 characters in all with messages of the roles system " +
				"and developer. They are not carried on to the next response.",
			Max: to(8000),
		},
		"V1ResponseQuestion.previous_response_id": {
			about: "The response that this question follows.",
		},
		"V1ResponseQuestion.conversation": {
			about: "The conversation's id, or an object with it as id; it is made if it is not there. With it, or " +
				"with previous_response_id, only the last message of input is used.",
		},
		"V1ResponseQuestion.stream": {about: "Answer with events.", initial: false},
		"V1ResponseQuestion.background": {
			about: "Answer at once: GET /v1/responses/{id} says what became of it.", initial: false,
		},
		"V1ResponseQuestion.temperature": {Min: to(0), Max: to(2)},
		"V1ResponseQuestion.text": {
			about: "Its format can only be text: another one is refused with 400, since answers are Markdown with " +
				"footnotes.",
		},
		"V1ResponseQuestion.max_output_tokens": {
			about: "No effect: answers are as long as they need to be.", Min: to(1),
		},
		"V1ResponseQuestion.top_logprobs": {
			about: "Only 0: an answer has no probabilities of tokens.", Min: to(0), Max: to(0),
		},
		"V1ResponseQuestion.prompt": {
			about: "Not taken, and refused with 400: no prompts are kept here.",
		},
		"V1TextWish.format":    {about: "The form of the answer."},
		"V1TextWish.verbosity": {about: "No effect: how a model draws its words is the server's matter."},
		"V1Response.id":        {about: `"resp_" and the run's id.`},
		"V1Response.object":    {values: []string{"response"}},
		"V1Response.status":    {values: []string{"in_progress", "completed", "failed", "cancelled"}},
		"V1Response.output": {
			about: "What was done, in its order: V1FileSearchItem, V1WebSearchItem and V1ReasoningItem, and the " +
				"answer " +
				"as V1MessageItem.",
		},
		"V1Response.usage":    {about: "Null while the run is under way."},
		"V1Response.footnote": {about: "How far the answer can be relied on, and why."},
		"V1Response.store": {
			about: "Always true: the server keeps each conversation until it is deleted, since footnotes open by it.",
		},
		"V1Response.conversation":         {about: "The conversation that it is a part of."},
		"V1Response.previous_response_id": {about: "The response before it in the conversation."},
		"V1ResponseError.code":            {values: []string{"server_error", "rate_limit_exceeded", "invalid_prompt"}},
		"V1FileSearchItem.results":        {about: "What it found; empty until it is over."},
		"V1SearchResult.file_id":          {about: "The document's id; empty for a page of the web that was not kept."},
		"V1SearchResult.text":             {about: "The beginning of the passage."},
		"V1SearchResult.attributes":       {about: "Where they are known: title, section, page, url, source_url."},
		"V1ResponseAnnotation.type":       {values: []string{"url_citation"}},
		"V1ResponseAnnotation.file_id":    {about: "The document's id."},
		"V1ResponseAnnotation.filename":   {about: "The document's file name."},
		"V1ResponseAnnotation.quote":      {about: "The words that the footnote stands for, as the document has them."},
		"V1ResponseEvent.sequence_number": {about: "The event's number in its response, from 0 without gaps."},
		"V1ResponseEvent.type":            {about: "What the event is; OpenAI's documentation has them all."},
		"V1MessageItem.status":            {values: []string{"in_progress", "completed", "incomplete"}},
	}
	for name, about := range map[string]string{
		"V1Response.background":                 "Always false: each run goes on when its reader leaves.",
		"V1Response.completed_at":               "When the answer was whole, in Unix seconds.",
		"V1Response.incomplete_details":         "Always null: no answer is cut.",
		"V1Response.instructions":               "What was told to the model besides its rules.",
		"V1Response.max_output_tokens":          "Always null: answers are as long as they need to be.",
		"V1Response.parallel_tool_calls":        "Always true.",
		"V1Response.tool_choice":                "Always auto.",
		"V1Response.tools":                      "Always empty: the tools are Footnote's own.",
		"V1Response.top_p":                      "Always null.",
		"V1Response.truncation":                 "Always disabled.",
		"V1Response.user":                       "Always null.",
		"V1ReasoningWish.effort":                "Always null.",
		"V1TextForm.format":                     "The form of the answer: text.",
		"V1FileSearchItem.queries":              "What was looked for.",
		"V1ResponseUsage.input_tokens":          "Tokens that went to models.",
		"V1ResponseUsage.output_tokens":         "Tokens that came from models.",
		"V1InputDetails.cached_tokens":          "Always 0: they are not counted apart.",
		"V1OutputDetails.reasoning_tokens":      "Always 0: they are not counted apart.",
		"V1ResponseUsage.input_tokens_details":  "Tokens that were not read anew.",
		"V1ResponseUsage.output_tokens_details": "Tokens of thoughts.",
		"V1Usage.prompt_tokens_details":         "Tokens that were not read anew.",
		"V1Usage.completion_tokens_details":     "Tokens of thoughts.",
		"V1ResponseEvent.annotation":            "A footnote of the text.",
		"V1ResponseEvent.annotation_index":      "Its place among the footnotes, from 0.",
		"V1ResponseEvent.content_index":         "The place of the part in the message: 0.",
		"V1ResponseEvent.item":                  "An item of the output as it is now.",
		"V1ResponseEvent.item_id":               "The item's id.",
		"V1ResponseEvent.output_index":          "The item's place among all that began, from 0.",
		"V1ResponseEvent.summary_index":         "The place of a sentence about a step, from 0.",
	} {
		out[name] = field{about: about}
	}
	for name, about := range map[string]string{
		"tools":                  "the tools are Footnote's own, and it uses them by itself. It calls none of these.",
		"parallel_tool_calls":    "which calls are made is the server's matter.",
		"max_tool_calls":         "which calls are made is the server's matter.",
		"include":                "what there is to include always is.",
		"reasoning":              "how a model thinks is the server's matter.",
		"top_p":                  "how a model draws its words is the server's matter, but for temperature.",
		"stream_options":         "a stream has no padding.",
		"truncation":             "what a model gets of a conversation is the server's matter.",
		"context_management":     "what a model gets of a conversation is the server's matter.",
		"access_programs":        "they are OpenAI's.",
		"moderation":             "nothing is sent to a service for moderation.",
		"user":                   "who asks follows from the key.",
		"safety_identifier":      "who asks follows from the key.",
		"metadata":               "it is not kept.",
		"store":                  "the server keeps each conversation until it is deleted, since footnotes open by it.",
		"service_tier":           "there is one tier.",
		"prompt_cache_key":       "the server keeps no prompts.",
		"prompt_cache_retention": "the server keeps no prompts.",
		"prompt_cache_options":   "the server keeps no prompts.",
	} {
		out["V1ResponseQuestion."+name] = field{about: "No effect: " + about}
	}
	for _, name := range []string{"namespace", "document_ids", "tool_choice"} {
		out["V1ResponseQuestion."+name] = v1Fields()["V1Question."+name]
	}
	return out
}

// inputSchema is a text, or a list of items, of which messages are read.
func inputSchema() *jsonschema.Schema {
	message, one := any("message"), 1
	kind := &jsonschema.Schema{Type: "string", Enum: []any{"message", ""}}
	said := &jsonschema.Schema{Type: "object", Required: []string{
		"role", "content",
	}, Properties: map[string]*jsonschema.Schema{
		"type":    kind,
		"role":    {Type: "string", Enum: listValues("user", "assistant", "system", "developer")},
		"content": contentSchema(),
	}}
	other := &jsonschema.Schema{Type: "object", Required: []string{"type"}, Properties: map[string]*jsonschema.Schema{
		"type": {
			Type: "string", Not: &jsonschema.Schema{Const: &message}, MinLength: &one,
			Description: "An item of another type is refused as the last one.",
		},
	}}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{
		{Type: "string"},
		{Type: "array", MinItems: &one, Items: &jsonschema.Schema{AnyOf: []*jsonschema.Schema{said, other}}},
	}}
}

// conversationSchema is a conversation's id, or an object that has it.
func conversationSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "string", Pattern: maybeForm},
		{Type: "object", Required: []string{"id"}, Properties: map[string]*jsonschema.Schema{
			"id": {Type: "string", Pattern: sessionForm},
		}},
		{Type: "null"},
	}}
}
