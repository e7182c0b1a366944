package openapi

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/relay"
)

// The bodies are open and the errors are in OpenAI's form, as clients made for OpenAI's API expect.
func v1Routes() []Operation {
	return []Operation{
		route("POST /v1/chat/completions", "Create a chat completion").
			says(`Footnotes are in the content as [N] and as annotations of type url_citation, whose indexes count
			characters. A stream reports progress as reasoning_content. All fields of OpenAI's API are accepted; the
			schema marks those without effect. A field is rejected only if ignoring it would mislead the client.
			Unknown fields have no effect. Rules in system messages are not followed, since answers come from the
			documents alone.`).
			takesOpen(relay.V1Question{}, `{
				"model": "footnote", "messages": [{"role": "user", "content": "When was the roof last repaired?"}]
			}`).
			with(onceParam).
			fails(waitFails...).fails(chat.CodeGuardrail).
			gives("The answer.", relay.V1Completion{}).
			streams("With stream: chunks (V1Chunk) as server-sent events, terminated by [DONE]. An error is sent as " +
				"{error}."),
		// Clients made for OpenAI request the list to offer a choice.
		route("GET /v1/models", "List models").
			gives("The list of models, which contains only footnote.", relay.V1ModelList{}),
		route("GET /v1/models/:model", "Get a model").
			gives("The model.", relay.V1ModelInfo{}),
		route("POST /v1/responses", "Create a response").
			says(`A response is a run. Its searches are items of type file_search_call with their results
			(web_search_call for the web), its other steps are reasoning, and the answer is a message. Footnotes are
			in the text as [N] and as annotations of type url_citation, whose indexes count characters, with the
			document's file_id and the quote. previous_response_id continues after that response, even if other
			responses follow it. With background the request returns immediately, and the response is in progress.
			Fields are accepted and rejected as for chat completions.`).
			takesOpen(relay.V1ResponseQuestion{}, `{"input":"When was the roof last repaired?","model":"footnote"}`).
			with(onceParam).
			fails(waitFails...).fails(chat.CodeGuardrail, chat.CodeConflict).
			gives("The response.", relay.V1Response{}).
			streams("With stream: events (V1ResponseEvent) as server-sent events. The last event is " +
				"response.completed, response.failed, or response.incomplete for a canceled run."),
		route("GET /v1/responses/:id", "Get a response").
			says("Returns the current state. With stream, streams the events, optionally from starting_after.").
			with(
				query("stream", oneOf("false", "true"), "Stream the events instead."),
				query("starting_after", wholeSchema(0, 1<<30, "0"),
					"With stream: resume after the event with this sequence_number.")).
			fails(chat.CodeTooMany).
			gives("The response.", relay.V1Response{}).
			streams("With stream: the event stream."),
		route("POST /v1/responses/:id/cancel", "Cancel a response").
			says("Also for responses without background. A completed response is unchanged.").
			gives("The canceled response.", relay.V1Response{}),
	}
}
