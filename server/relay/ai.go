package relay

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// AiQuestion is the body of POST /ui/chat, as the SDK's DefaultChatTransport sends it, with additional fields for an
// app. Unknown fields are accepted and have no effect.
type AiQuestion struct {
	ID string `json:"id" api:"need,form=session"` // The chat ID, which is also the conversation ID.
	// The chat; the last message is the question, the earlier ones are turns.
	Messages []AiMessage `json:"messages" api:"need,min=1"`
	// submit-message, or regenerate-message for another answer to the same question.
	Trigger   string  `json:"trigger"`
	MessageID *string `json:"messageId"` // The message that is regenerated or was edited.
	threadOptions
}

// AiMessage is one of the SDK's UI messages.
type AiMessage struct {
	ID string `json:"id"` // The message ID; for an answer, the run ID.
	// user and assistant make the chat. system is added to the model's rules, 8,000 characters in all. Others are
	// accepted and have no effect.
	Role  string   `json:"role"`
	Parts []AiPart `json:"parts"` // The parts; only those of type text are read.
}

// AiPart is a part of a message. Of other types than text only the type is decoded.
type AiPart struct {
	// text; other types are accepted and have no effect, except that a question may have no file.
	Type string `json:"type"`
	Text string `json:"text"`
}

// AiChunk is one message of the stream; its fields depend on its type.
type AiChunk struct {
	Type string `json:"type"` // The type of the chunk; the SDK's documentation lists them.
	// The ID of a text or thought.
	ID    string `json:"id,omitempty"`
	Delta string `json:"delta,omitempty"`
	// The message ID, which is the run ID: use it to cancel, rate and export.
	MessageID string `json:"messageId,omitempty"`
	// Metadata of the answer; most of it in the chunk finish.
	MessageMetadata *AiMetadata     `json:"messageMetadata,omitempty"`
	ToolCallID      string          `json:"toolCallId,omitempty"` // The tool call ID, which is the step's call_id.
	ToolName        string          `json:"toolName,omitempty"`   // The tool's name.
	Title           string          `json:"title,omitempty"`
	Input           json.RawMessage `json:"input,omitempty"`  // The tool's arguments.
	Output          json.RawMessage `json:"output,omitempty"` // The tool's result.
	// Always true for tools: the client need not define them.
	Dynamic          bool            `json:"dynamic,omitempty"`
	ProviderExecuted bool            `json:"providerExecuted,omitempty"` // Always true for tools: the server calls them.
	ToolMetadata     *AiToolMetadata `json:"toolMetadata,omitempty"`     // The call as text.
	// The error message.
	ErrorText string `json:"errorText,omitempty"`
	SourceID  string `json:"sourceId,omitempty"` // The footnote's number in the text.
	// The URL of the document viewer at the quote.
	URL              string            `json:"url,omitempty"`
	ProviderMetadata *AiSourceMetadata `json:"providerMetadata,omitempty"` // The position of the quote.
	FinishReason     string            `json:"finishReason,omitempty"`     // stop or length.
	Reason           string            `json:"reason,omitempty"`           // The reason why the answer was stopped.
}

// AiMetadata holds a message's fields that are not in the SDK's schema. All except the ids are sent at its end.
type AiMetadata struct {
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	Status    chat.RunStatus  `json:"status,omitempty"`
	Tokens    *chat.Tokens    `json:"tokens,omitempty"`
	Footnote  *runlog.Judged  `json:"footnote,omitempty"`
	Reason    chat.StopReason `json:"stop_reason,omitempty"`
}

// AiToolMetadata holds the fields of a tool call that the page shows.
type AiToolMetadata struct {
	// pending: approval required, by /agent/runs/{run_id}/steps/{call}/approve or deny.
	Status     chat.Status `json:"status"`
	Message    string      `json:"message"` // "Found 3 documents"
	DurationMS int64       `json:"duration_ms"`
	Truncated  bool        `json:"truncated,omitempty"` // the output is truncated
}

// AiSourceMetadata links a source to the words of a document.
type AiSourceMetadata struct {
	// The footnote: document, place, quote, and the result of the quote check.
	Footnote runlog.GroundedSource `json:"footnote"`
}

// AiChat handles POST /ui/chat.
func (h *Handlers) AiChat(c httpio.Context) error {
	var body AiQuestion
	if err := h.Threads.ReadOpenJSON(c, &body); err != nil {
		return err
	}
	again := body.Trigger == "regenerate-message" || body.MessageID != nil
	return h.askThread(c, body.question(), body.ID, body.messages(), again, aiStream(c))
}

// messages returns the conversation.
func (body AiQuestion) messages() []chatMessage {
	list := make([]chatMessage, 0, len(body.Messages))
	for _, m := range body.Messages {
		one := chatMessage{id: m.ID, role: m.Role}
		var texts []string
		for _, part := range m.Parts {
			switch part.Type {
			case "text":
				texts = append(texts, part.Text)
			case "file":
				one.other = "a file"
			}
		}
		one.text = strings.Join(texts, "\n\n")
		list = append(list, one)
	}
	return list
}

// aiStream returns the encoder of a response, which gets the protocol's header.
func aiStream(c httpio.Context) *aiEncoder {
	c.Response().Header().Set("X-Vercel-AI-UI-Message-Stream", "v1")
	return &aiEncoder{}
}

// AiResume handles GET /ui/chat/{id}/stream: the run under way, from its beginning, or 204 without one. A client that
// sends the last event number resumes the last run after it, even if that is over.
func (h *Handlers) AiResume(c httpio.Context) error {
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	if err := chat.CheckSessionID(c.Param("id")); err != nil {
		return err
	}
	numbered := c.QueryParam("after") != "" || c.Request().Header.Get("Last-Event-ID") != ""
	run, err := h.lastRun(c, numbered)
	switch {
	case chat.CodeOf(err) == chat.CodeNotFound, // a client may ask before its chat's first question
		err == nil && run.ID == "":
		return c.NoContent(http.StatusNoContent)
	case err != nil:
		return err
	}
	return h.resume(c, run, aiStream(c), after)
}

// AiStop handles POST /ui/chat/{id}/stop: it cancels the run under way, if any.
func (h *Handlers) AiStop(c httpio.Context) error {
	run, err := h.lastRun(c, false)
	if err == nil && run.ID != "" {
		err = h.Runs.Cancel(c.Request().Context(), httpio.Scope(c), run.ID)
	}
	if err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// lastRun returns the newest unfinished run of a chat or, with over, its last run in any state. The run has no id if
// there is none.
func (h *Handlers) lastRun(c httpio.Context, over bool) (run chat.Run, err error) {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	session, err := h.Store.Session(ctx, scope, c.Param("id"))
	switch {
	case err != nil:
		return run, err
	case over && session.HeadID != "":
		return h.Store.Run(ctx, scope, session.HeadID)
	case !session.Running:
		return run, nil
	}
	runs, err := h.Store.Runs(ctx, scope, session.ID)
	for _, r := range runs {
		if r.Status == chat.RunRunning {
			run = r
		}
	}
	return run, err
}
