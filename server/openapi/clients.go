package openapi

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/server/agui"
	"footnote/server/aisdk"
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

// clientFields says of the fields of these routes what their types do not.
func clientFields() map[string]field {
	id := field{about: "The message's id; of an answer its run's."}
	return map[string]field{
		"AiQuestion.id": {about: "The chat's id, which becomes the conversation's.", need: true, pattern: sessionForm},
		"AiQuestion.messages": {
			about: "The chat; the last message is the question, those before it are turns.", need: true, Min: to(1),
		},
		"AiQuestion.trigger": {
			about: "submit-message, or regenerate-message for another answer to the same question.",
		},
		"AiQuestion.messageId": {about: "The message that is regenerated or was edited."},
		"AiMessage.id":         id,
		"AiMessage.role": {
			about: "user and assistant make the chat; system is told to the model besides its rules, 8,000 " +
				"characters in all. Others are let in and have no effect.",
		},
		"AiMessage.parts": {about: "Those of type text are read."},
		"AiPart.type": {
			about: "text, or any other, which is let in and has no effect; a question has no file.",
		},
		"AiChunk.type": {about: "What the chunk is; the SDK's documentation has them all."},
		"AiChunk.id":   {about: "Of a text or thought."},
		"AiChunk.messageId": {
			about: "The message's id, which is the run's: cancel, feedback and export take it.",
		},
		"AiChunk.messageMetadata":  {about: "What there is to know about the answer; most of it in the chunk finish."},
		"AiChunk.toolCallId":       {about: "The tool call's id, which is the step's."},
		"AiChunk.toolName":         {about: "The tool's name."},
		"AiChunk.input":            {about: "The tool's arguments."},
		"AiChunk.output":           {about: "What the tool returned."},
		"AiChunk.dynamic":          {about: "Always true of tools: a client need not know them."},
		"AiChunk.providerExecuted": {about: "Always true of tools: the server calls them."},
		"AiChunk.toolMetadata":     {about: "The call in words."},
		"AiChunk.errorText":        {about: "What went wrong, as a sentence."},
		"AiChunk.sourceId":         {about: "The footnote's number in the text."},
		"AiChunk.url":              {about: "Of the viewer, at the very words."},
		"AiChunk.providerMetadata": {about: "Where the source's words stand."},
		"AiChunk.finishReason":     {about: "stop."},
		"AiChunk.reason":           {about: "Why the answer was stopped."},
		"AiMetadata.footnote":      {about: "How far the answer can be relied on, and why."},
		"AgUiInput.threadId": {
			about: "The thread's id, which becomes the conversation's.", need: true, pattern: sessionForm,
		},
		"AgUiInput.runId": {about: "The client's name for the run.", need: true, Min: to(1), Max: to(agui.MaxRunID)},
		"AgUiInput.state": {about: "The client's state. It comes back with the field footnote in it."},
		"AgUiInput.messages": {
			about: "The thread; the last message is the question, those before it are turns.", need: true, Min: to(1),
		},
		"AgUiInput.context":        {about: "Text that the answer may rest on besides the documents."},
		"AgUiInput.forwardedProps": {about: "What an app may say of a question besides."},
		"AgUiMessage.id":           {about: "The message's id; of an answer our run's."},
		"AgUiMessage.role": {
			about: "user and assistant make the thread; system and developer are told to the model besides its " +
				"rules, 8,000 characters in all. Others are let in and have no effect.",
		},
		"AgUiMessage.content":       {about: "The text, or parts of it."},
		"AgUiContext.description":   {about: "What the text is."},
		"AgUiContext.value":         {about: "The text."},
		"AgUiEvent.type":            {about: "What the event is; the protocol's documentation has them all."},
		"AgUiEvent.threadId":        {about: "The thread's id."},
		"AgUiEvent.runId":           {about: "The client's name for the run."},
		"AgUiEvent.messageId":       {about: "The message's id; of the answer our run's."},
		"AgUiEvent.delta":           {about: "The next piece."},
		"AgUiEvent.toolCallId":      {about: "Our run's id, _ and the step's."},
		"AgUiEvent.toolCallName":    {about: "The tool's name."},
		"AgUiEvent.parentMessageId": {about: "The message that has the run's calls."},
		"AgUiEvent.content":         {about: "What the tool returned, as JSON, or why it failed, as a sentence."},
		"AgUiEvent.snapshot":        {about: "The client's state with ours as footnote (AgUiState)."},
		"AgUiEvent.outcome":         {about: "How the run ended, if it was stopped; absent: success."},
		"AgUiEvent.message":         {about: "What went wrong, as a sentence."},
		"AgUiState.waiting": {
			about: "Call ids of steps that wait for a person: /agent/runs/{run_id}/steps/{call}/approve or deny.",
		},
		"AiToolMetadata.status": {
			about: "pending: it waits for a person, /agent/runs/{run_id}/steps/{call}/approve or deny.",
		},
		"AgUiState.judged":          {about: "How far the answer can be relied on, and why."},
		"AiSourceMetadata.footnote": {about: "The footnote: document, place, quote, and how the quote was checked."},
	}
}

// seenParam is afterParams' header where the address takes no parameters.
var seenParam = parameter{
	in: "header", name: "Last-Event-ID", schema: patterned(`^[0-9]{0,15}$`),
	about: "Of a run that is asked for again: go on after this event. Empty is none.",
}

// plainContent is a failure that is a sentence alone.
var plainContent = map[string]apiContent{echo.MIMETextPlain: {Schema: textSchema()}}
