package openapi

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/relay"
)

// Their protocols are specified elsewhere: the AI SDK's UI message stream, and AG-UI's events. Only the server's use
// of them is described here. Their bodies are open, since newer clients send further fields.
func clientRoutes() []Operation {
	return []Operation{
		// It accepts the requests of useChat with this address as its api.
		route("POST /ui/chat", "Ask with the AI SDK's useChat").
			says(`The chat ID is the conversation ID: after the first question only the last message is used. The
			response is a UI message stream. Tool calls are parts of type dynamic-tool, footnotes are [N] in the text
			and source-url parts with that number, and thoughts are reasoning. The message ID is the run ID. The run
			continues if the client disconnects. With trigger regenerate-message, or a messageId, the question keeps
			its position in the messages. Unknown fields have no effect.`).
			takesOpen(relay.AiQuestion{}, `{"id": "chat-1", "messages": [{
				"id": "m1", "role": "user", "parts": [{"type": "text", "text": "When was the roof last repaired?"}]
			}]}`).
			with(onceParam, seenParam).
			fails(askFails...).
			streams("Chunks (AiChunk) as server-sent events, terminated by [DONE].").
			empty("The client has received all events."),
		// The client requests this when its page is reloaded.
		route("GET /ui/chat/:id/stream", "Resume the stream of a chat").
			says(`Streams the active answer from its beginning. With after or Last-Event-ID, resumes the last answer
			after that event, even if it is complete.`).
			with(afterParams...).
			fails(chat.CodeTooMany).
			streams("Chunks, as for POST.").
			empty("No answer is in progress, or the client has received all events."),
		route("POST /ui/chat/:id/stop", "Cancel the answer of a chat").
			says("The client's stop() only closes its stream; the run continues.").
			fails(chat.CodeNotFound, chat.CodeConflict).
			empty("The run was canceled."),
		// AG-UI has a single address; the routes of runs cancel them.
		route("POST /ag-ui", "Ask with an AG-UI client").
			says(`The thread ID is the conversation ID. The response streams a run as AG-UI events: tool calls with
			their results, thoughts as reasoning, and the answer as a message whose ID is the server's run ID, with
			footnotes [N]. The state's field footnote has their sources. The run continues if the client disconnects;
			the same runId and question return it again. A question after an earlier answer starts a new branch
			there. Unknown fields and the client's tools have no effect.`).
			takesOpen(relay.AgUiInput{}, `{
				"threadId": "thread-1", "runId": "run-1", "tools": [], "context": [],
				"messages": [{"id": "m1", "role": "user", "content": "When was the roof last repaired?"}]
			}`).
			with(onceParam, seenParam).
			fails(askFails...).
			streams("Events (AgUiEvent) as server-sent events.").
			empty("The client has received all events."),
	}
}
