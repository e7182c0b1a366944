package relay

import (
	"encoding/json"
	"maps"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// AgUiInput is the body of POST /ag-ui: the protocol's RunAgentInput. Unknown fields are accepted and have no effect;
// neither have a client's tools, since Footnote uses its own.
type AgUiInput struct {
	ThreadID string `json:"threadId" api:"need,form=session"`    // The thread ID, which is also the conversation ID.
	RunID    string `json:"runId" api:"need,min=1,max=MaxRunID"` // The client's run ID.
	// The client's state. It is returned with the field footnote in it.
	State any `json:"state"`
	// The thread; the last message is the question, the earlier ones are turns.
	Messages []AgUiMessage `json:"messages" api:"need,min=1"`
	Context  []AgUiContext `json:"context"`        // Text to answer from besides the documents.
	Options  threadOptions `json:"forwardedProps"` // An app's options for a question.
}

// AgUiMessage is one message of a thread.
type AgUiMessage struct {
	ID string `json:"id"` // The message ID; for an answer, the server's run ID.
	// user and assistant make the thread. system and developer are instructions added to the model's rules, 8,000
	// characters in all. Others are accepted and have no effect.
	Role    string  `json:"role"`
	Content Content `json:"content"` // The text, or parts of it.
}

// AgUiContext is an app's additional text for a question.
type AgUiContext struct {
	Description string `json:"description"` // A description of the text.
	Value       string `json:"value"`       // The text.
}

// AgUiState is the field footnote of the state: the run and its sources.
type AgUiState struct {
	RunID     string         `json:"run_id"`
	SessionID string         `json:"session_id"`
	Status    chat.RunStatus `json:"status"`
	// The call_ids of steps pending approval: /agent/runs/{run_id}/steps/{call}/approve or deny.
	Waiting []string                `json:"waiting"`
	Sources []runlog.GroundedSource `json:"sources"`
	Judged  *runlog.Judged          `json:"judged,omitempty"` // The reliability of the answer, with reasons.
}

// AgUiEvent is one event of the protocol; its fields depend on its type.
type AgUiEvent struct {
	Type            string `json:"type"`                // The event's type; the protocol's documentation lists them.
	ThreadID        string `json:"threadId,omitempty"`  // The thread ID.
	RunID           string `json:"runId,omitempty"`     // The client's run ID.
	MessageID       string `json:"messageId,omitempty"` // The message ID; for the answer, the server's run ID.
	Role            string `json:"role,omitempty"`
	Delta           string `json:"delta,omitempty"`           // The next part.
	ToolCallID      string `json:"toolCallId,omitempty"`      // The server's run ID, _ and the step's call_id.
	ToolCallName    string `json:"toolCallName,omitempty"`    // The tool's name.
	ParentMessageID string `json:"parentMessageId,omitempty"` // The message with the run's calls.
	// The tool's result as JSON, or the reason for its failure, as a sentence.
	Content string `json:"content,omitempty"`
	// The client's state, with the server's state in footnote (AgUiState).
	Snapshot map[string]any  `json:"snapshot,omitempty"`
	Outcome  json.RawMessage `json:"outcome,omitempty"` // The reason why the run was stopped; absent: success.
	// The error message.
	Message string    `json:"message,omitempty"`
	Code    chat.Code `json:"code,omitempty"`
}

// MaxRunID is the maximum length of a client's run id in bytes: it is part of an Idempotency-Key.
const MaxRunID = 100

// AgUi handles POST /ag-ui. A runId known in the thread, with the same question, returns the same run.
func (h *Handlers) AgUi(c httpio.Context) error {
	var in AgUiInput
	if err := h.Threads.ReadOpenJSON(c, &in); err != nil {
		return err
	}
	if in.RunID == "" || len(in.RunID) > MaxRunID {
		return httpio.Invalid("runId must have 1 to 100 bytes.")
	}
	q := in.Options.question()
	q.Key = "ag-ui " + in.ThreadID + " " + in.RunID
	var given []string
	for _, part := range in.Context {
		if strings.TrimSpace(part.Value) != "" {
			given = append(given, strings.TrimSpace(part.Description+"\n"+part.Value))
		}
	}
	if len(given) > 0 {
		q.AddedContext = new(strings.Join(given, "\n\n"))
	}
	list := in.messages()
	again := len(list) > 1 && list[len(list)-2].role == "assistant"
	return h.askThread(c, q, in.ThreadID, list, again, &aguiEncoder{in: in})
}

// messages returns the conversation without tool messages and empty ones. In ids of our messages, the first part is the
// run id.
func (in AgUiInput) messages() []chatMessage {
	list := make([]chatMessage, 0, len(in.Messages))
	for i, m := range in.Messages {
		id, _, _ := strings.Cut(m.ID, "_")
		one := m.Content.message(id, m.Role)
		if i == len(in.Messages)-1 || m.Role != "tool" && m.Role != "reasoning" &&
			(one.other != "" || strings.TrimSpace(one.text) != "") {
			list = append(list, one)
		}
	}
	return list
}

// withFootnote returns a client's state with ours added.
func (in AgUiInput) withFootnote(ours AgUiState) map[string]any {
	state, _ := in.State.(map[string]any) // a value other than an object is replaced by one
	out := maps.Clone(state)
	if out == nil {
		out = map[string]any{}
	}
	out["footnote"] = ours
	return out
}
