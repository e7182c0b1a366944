package openapi

import (
	"net/http"
	"slices"

	"footnote/chat"
	"footnote/server/agui"
	"footnote/server/aisdk"
	"footnote/server/httpio"
)

// clientGroup is the heading of these routes.
const clientGroup = "AI SDK and AG-UI"

// aisdkOperations describes the routes for the AI SDK. Their failures are bare sentences.
func aisdkOperations() []Operation {
	return []Operation{
		{
			Method: "POST", Path: "/ui/chat", group: clientGroup, summary: "Ask as the AI SDK's useChat asks",
			about: "The chat's id is the conversation's: after its first question only the last message is used. " +
				"The answer is a UI message stream. Tools come as parts of type dynamic-tool, footnotes as [N] " +
				"in the text and as source-url with that number, thoughts as reasoning. The message's id is the " +
				"run's. The run goes on when the reader leaves. With trigger regenerate-message, or a messageId, " +
				"the question takes the place that it has in the messages. Fields that are not described are let " +
				"in and have no effect.",
			body: aisdk.Question{}, open: true, params: []parameter{onceParam, seenParam},
			fails: askFails,
			example: map[string]any{"id": "chat-1", "messages": []any{map[string]any{
				"id": "m1", "role": "user", "parts": []any{
					map[string]any{"type": "text", "text": "When was the roof last repaired?"},
				},
			}}},
			outcomes: []outcome{
				{
					status: http.StatusOK, about: "Chunks (AiChunk) as server-sent events, ended by [DONE].",
					kind: eventsKind,
				},
				{status: http.StatusNoContent, about: "The reader has seen all of it."},
			},
		},
		{
			Method: "GET", Path: "/ui/chat/:id/stream", group: clientGroup, summary: "Go on with the answer of a chat",
			about: "The answer that is under way, from its beginning. With after or Last-Event-ID what follows " +
				"that event of the last answer, even if it is over.",
			params: slices.Concat([]parameter{sessionParam}, afterParams), fails: []chat.Code{
				chat.CodeInvalid, chat.CodeTooMany,
			},
			outcomes: []outcome{
				{status: http.StatusOK, about: "Chunks, as with POST.", kind: eventsKind},
				{status: http.StatusNoContent, about: "No answer is under way, or the reader has seen all of it."},
			},
		},
		{
			Method: "POST", Path: "/ui/chat/:id/stop", group: clientGroup, summary: "Stop the answer of a chat",
			about:  "The client's own stop() closes its stream only, and the run goes on.",
			params: []parameter{sessionParam}, fails: []chat.Code{chat.CodeNotFound, chat.CodeConflict},
			outcomes: []outcome{{status: http.StatusNoContent, about: "No answer is under way any more."}},
		},
	}
}

// aguiOperations describes the route for AG-UI.
func aguiOperations() []Operation {
	return []Operation{{
		Method: "POST", Path: "/ag-ui", group: clientGroup, summary: "Ask as an AG-UI client asks",
		about: "The thread's id is the conversation's. The answer is a run as AG-UI's events: tool calls with their " +
			"results, thoughts as reasoning, the answer as the message whose id is our run's, with footnotes [N], " +
			"and their sources in the state's field footnote. The run goes on when the reader leaves: the same " +
			"runId and question give it again. A question that follows another answer than the conversation's last " +
			"one takes the place behind that. Fields that are not described are let in and have no effect; nor " +
			"have tools of the client.",
		body: agui.Input{}, open: true, params: []parameter{onceParam, seenParam},
		fails: askFails,
		example: map[string]any{"threadId": "thread-1", "runId": "run-1", "messages": []any{map[string]any{
			"id": "m1", "role": "user", "content": "When was the roof last repaired?",
		}}, "tools": []any{}, "context": []any{}},
		outcomes: []outcome{
			{status: http.StatusOK, about: "Events (AgUiEvent) as server-sent events.", kind: eventsKind},
			{status: http.StatusNoContent, about: "The reader has seen all of it."},
		},
	}}
}

// seenParam is afterParams' header where the address takes no parameters.
var seenParam = parameter{
	in: "header", name: "Last-Event-ID", schema: patterned(`^[0-9]{0,15}$`),
	about: "Of a run that is asked for again: go on after this event. Empty is none.",
}

// plainContent is a failure that is a sentence alone.
var plainContent = map[string]apiContent{httpio.TypeText: {Schema: textSchema()}}
