// Package agui serves clients of AG-UI, the Agent-User Interaction protocol: a thread is a session of the same id,
// and a run is streamed as the protocol's events.
package agui

import (
	"encoding/json"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Handlers serves /ag-ui.
type Handlers struct {
	Logs      *runlog.Reader
	Questions *ask.Questions
	Bodies    httpio.Bodies
}

// Input is the body of POST /ag-ui: the protocol's RunAgentInput. Unknown fields are accepted and have no effect;
// neither have a client's tools, since Footnote uses its own.
type Input struct {
	ThreadID string `json:"threadId" api:"need,form=session"`    // The thread's id, which becomes the conversation's.
	RunID    string `json:"runId" api:"need,min=1,max=MaxRunID"` // The client's id of the run.
	// The client's state. It is returned with the field footnote in it.
	State any `json:"state"`
	// The thread; the last message is the question, the earlier ones are turns.
	Messages []Message `json:"messages" api:"need,min=1"`
	Context  []Context `json:"context"`        // Text to answer from besides the documents.
	Options  Options   `json:"forwardedProps"` // An app's options for a question.
}

// Message is one message of a thread.
type Message struct {
	ID string `json:"id"` // The message's id; of an answer our run's.
	// user and assistant make the thread. system and developer are instructions added to the model's rules, 8,000
	// characters in all. Others are accepted and have no effect.
	Role    string      `json:"role"`
	Content ask.Content `json:"content"` // The text, or parts of it.
}

// Context is an app's additional text for a question.
type Context struct {
	Description string `json:"description"` // A description of the text.
	Value       string `json:"value"`       // The text.
}

// Options are an app's options for a question.
type Options struct {
	// The namespace; without it, documents are added to "default" and all namespaces are searched.
	Namespace   string         `json:"namespace"`
	DocumentIDs []string       `json:"document_ids"` // Restricts the search to these documents; without it, all.
	Toolset     string         `json:"toolset"`
	Config      chat.RunConfig `json:"config"`
}

// MaxRunID is the maximum length of a run id in bytes: it is part of an Idempotency-Key.
const MaxRunID = 100

// Run handles POST /ag-ui. A runId known in the thread, with the same question, returns the same run.
func (h *Handlers) Run(c httpio.Context) error {
	var in Input
	if err := h.Bodies.ReadOpenJSON(c, &in); err != nil {
		return err
	}
	after, err := httpio.LastSeen(c.Request())
	if err != nil {
		return err
	}
	q, again, err := in.question()
	if err != nil {
		return err
	}
	if err := h.Questions.Join(c, &q, in.ThreadID, in.conversation(), again); err != nil {
		return err
	}
	run, err := h.Questions.Start(c, q)
	if err != nil {
		return err
	}
	return h.Logs.Retell(c, run, after, &teller{base: httpio.Origin(c), in: in}, "")
}

// question converts the input to a question. again means that it may replace another one: it follows an answer.
func (in Input) question() (q ask.Question, again bool, err error) {
	if in.RunID == "" || len(in.RunID) > MaxRunID {
		return q, false, httpio.Invalid("runId must have 1 to 100 bytes.")
	}
	q = ask.Question{
		Namespace: in.Options.Namespace, DocumentIDs: in.Options.DocumentIDs, Toolset: in.Options.Toolset,
		Config: in.Options.Config, Stream: true, Key: "ag-ui " + in.ThreadID + " " + in.RunID,
	}
	said := in.conversation()
	if err := q.Take(said); err != nil {
		return q, false, err
	}
	if kind := in.Messages[len(in.Messages)-1].Content.Other(); kind != "" {
		return q, false, httpio.Invalid("The message has a part that is not text. Send text alone, and upload files " +
			"as documents.")
	}
	var given []string
	for _, part := range in.Context {
		if strings.TrimSpace(part.Value) != "" {
			given = append(given, strings.TrimSpace(part.Description+"\n"+part.Value))
		}
	}
	if len(given) > 0 {
		text := strings.Join(given, "\n\n")
		q.AddedContext = &text
	}
	return q, len(said) > 1 && said[len(said)-2].Role == "assistant", nil
}

// conversation returns the text of the messages, without tool messages and empty ones. In ids of our messages, the
// first part is the run id.
func (in Input) conversation() []ask.Said {
	said := make([]ask.Said, 0, len(in.Messages))
	for i, m := range in.Messages {
		text := m.Content.Text()
		if i < len(in.Messages)-1 && (m.Role == "tool" || m.Role == "reasoning" || strings.TrimSpace(text) == "") {
			continue
		}
		id, _, _ := strings.Cut(m.ID, "_")
		said = append(said, ask.Said{ID: id, Role: m.Role, Text: text})
	}
	return said
}

// withFootnote returns a client's state with ours added.
func (in Input) withFootnote(ours State) map[string]any {
	state, _ := in.State.(map[string]any) // a value other than an object is replaced by one
	out := make(map[string]any, len(state)+1)
	for name, value := range state {
		out[name] = value
	}
	out["footnote"] = ours
	return out
}

// State is the field footnote of the state: the run and its sources.
type State struct {
	RunID     string         `json:"run_id"`
	SessionID string         `json:"session_id"`
	Status    chat.RunStatus `json:"status"`
	// Call ids of steps that wait for approval: /agent/runs/{run_id}/steps/{call}/approve or deny.
	Waiting []string                `json:"waiting"`
	Sources []runlog.GroundedSource `json:"sources"`
	Judged  *runlog.Judged          `json:"judged,omitempty"` // The reliability of the answer, with reasons.
}

// Event is one event of the protocol; its fields depend on its type.
type Event struct {
	Type            string `json:"type"`                // The event's type; the protocol's documentation lists them.
	ThreadID        string `json:"threadId,omitempty"`  // The thread's id.
	RunID           string `json:"runId,omitempty"`     // The client's id of the run.
	MessageID       string `json:"messageId,omitempty"` // The message's id; of the answer our run's.
	Role            string `json:"role,omitempty"`
	Delta           string `json:"delta,omitempty"`           // The next part.
	ToolCallID      string `json:"toolCallId,omitempty"`      // Our run's id, _ and the step's.
	ToolCallName    string `json:"toolCallName,omitempty"`    // The tool's name.
	ParentMessageID string `json:"parentMessageId,omitempty"` // The message with the run's calls.
	// The tool's result as JSON, or the reason for its failure, as a sentence.
	Content  string          `json:"content,omitempty"`
	Snapshot map[string]any  `json:"snapshot,omitempty"` // The client's state with ours as footnote (AgUiState).
	Outcome  json.RawMessage `json:"outcome,omitempty"`  // The reason why the run was stopped; absent: success.
	// The error, as a sentence.
	Message string    `json:"message,omitempty"`
	Code    chat.Code `json:"code,omitempty"`
}
