package openapi

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/relay"
)

// The bodies are open and the errors are in OpenAI's form, as clients made for OpenAI's API expect.
func v1Routes() []Operation {
	return []Operation{
		route("POST /v1/chat/completions", "Ask as one asks OpenAI").
			says(`Footnotes are in the content as [N] and as annotations of type url_citation, whose indexes count
			characters. While a run works, a stream has what it does as reasoning_content. All fields that OpenAI's
			API has are taken, and what has no effect says so; they are refused only where the answer would be another
			one than the client takes it for. Further fields are let in and have no effect. Rules in system messages
			are not followed, since answers come from the documents alone.`).
			takesOpen(relay.V1Question{}, `{
				"model": "footnote", "messages": [{"role": "user", "content": "When was the roof last repaired?"}]
			}`).
			with(onceParam).
			fails(waitFails...).fails(chat.CodeGuardrail).
			gives("The answer.", relay.V1Completion{}).
			streams("With stream: chunks (V1Chunk) as server-sent events, ended by [DONE]; a failure comes as " +
				"{error}."),
		// Clients made for OpenAI request the list to offer a choice.
		route("GET /v1/models", "List the models").
			gives("There is one: footnote.", relay.V1ModelList{}),
		route("GET /v1/models/:model", "Get a model").
			gives("The model.", relay.V1ModelInfo{}),
		route("POST /v1/responses", "Ask as one asks OpenAI's Responses API").
			says(`A response is a run: its searches come as items of type file_search_call with what they found
			(web_search_call for the web), its other steps as reasoning, the answer as a message. Footnotes are in the
			text as [N] and as annotations of type url_citation, whose indexes count characters, with the document's
			file_id and the words as quote. previous_response_id goes on behind that response, also behind one that
			others follow. With background the response is answered at once, under way. Fields are taken and refused
			as for chat completions.`).
			takesOpen(relay.V1ResponseQuestion{}, `{"input":"When was the roof last repaired?","model":"footnote"}`).
			with(onceParam).
			fails(waitFails...).fails(chat.CodeGuardrail, chat.CodeConflict).
			gives("The response.", relay.V1Response{}).
			streams("With stream: events (V1ResponseEvent) as server-sent events. The last one is " +
				"response.completed, response.failed, or response.incomplete for a run that was stopped."),
		route("GET /v1/responses/:id", "Get a response").
			says("As far as it is. With stream its events, with starting_after only those behind that number.").
			with(
				query("stream", oneOf("false", "true"), "Its events instead."),
				query("starting_after", wholeSchema(0, 1<<30, "0"),
					"With stream: go on behind the event with this sequence_number.")).
			fails(chat.CodeTooMany).
			gives("The response.", relay.V1Response{}).
			streams("With stream: its events."),
		route("POST /v1/responses/:id/cancel", "Stop a response").
			says("It need not be in the background. One that is over stays as it is.").
			gives("The response as it ended.", relay.V1Response{}),
	}
}
