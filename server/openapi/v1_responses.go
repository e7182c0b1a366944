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
