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
		route("POST /ui/chat", "Ask as the AI SDK's useChat asks").
			says(`The chat's id is the conversation's: after its first question only the last message is used. The
			answer is a UI message stream. Tools come as parts of type dynamic-tool, footnotes as [N] in the text and
			as source-url with that number, thoughts as reasoning. The message's id is the run's. The run goes on when
			the reader leaves. With trigger regenerate-message, or a messageId, the question takes the place that it
			has in the messages. Fields that are not described are let in and have no effect.`).
			takesOpen(relay.AiQuestion{}, `{"id": "chat-1", "messages": [{
				"id": "m1", "role": "user", "parts": [{"type": "text", "text": "When was the roof last repaired?"}]
			}]}`).
			with(onceParam, seenParam).
			fails(askFails...).
			streams("Chunks (AiChunk) as server-sent events, ended by [DONE].").
			empty("The reader has seen all of it."),
		// The client requests this when its page is reloaded.
		route("GET /ui/chat/:id/stream", "Go on with the answer of a chat").
			says(`The answer that is under way, from its beginning. With after or Last-Event-ID what follows that
			event of the last answer, even if it is over.`).
			with(afterParams...).
			fails(chat.CodeTooMany).
			streams("Chunks, as with POST.").
			empty("No answer is under way, or the reader has seen all of it."),
		route("POST /ui/chat/:id/stop", "Stop the answer of a chat").
			says("The client's own stop() closes its stream only, and the run goes on.").
			fails(chat.CodeNotFound, chat.CodeConflict).
			empty("No answer is under way any more."),
		// AG-UI has a single address; the routes of runs cancel them.
		route("POST /ag-ui", "Ask as an AG-UI client asks").
			says(`The thread's id is the conversation's. The answer is a run as AG-UI's events: tool calls with their
			results, thoughts as reasoning, the answer as the message whose id is our run's, with footnotes [N], and
			their sources in the state's field footnote. The run goes on when the reader leaves: the same runId and
			question give it again. A question that follows another answer than the conversation's last one takes the
			place behind that. Fields that are not described are let in and have no effect; nor have tools of the
			client.`).
			takesOpen(relay.AgUiInput{}, `{
				"threadId": "thread-1", "runId": "run-1", "tools": [], "context": [],
				"messages": [{"id": "m1", "role": "user", "content": "When was the roof last repaired?"}]
			}`).
			with(onceParam, seenParam).
			fails(askFails...).
			streams("Events (AgUiEvent) as server-sent events.").
			empty("The reader has seen all of it."),
	}
}
