// Package agui answers clients of AG-UI, the Agent-User Interaction protocol: a thread is a session of the same id, and
// a run comes as the protocol's events.
package agui

import (
	"encoding/json"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/ask"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Handlers answers /ag-ui.
type Handlers struct {
	Logs      *runlog.Reader
	Questions *ask.Questions
	Bodies    httpio.Bodies
}

// Input is the body of POST /ag-ui: the protocol's RunAgentInput. Fields that are not here are let in and have no
// effect; so have the tools of a client, since the tools are Footnote's own.
type Input struct {
	ThreadID string `json:"threadId" api:"need,form=session"`    // The thread's id, which becomes the conversation's.
	RunID    string `json:"runId" api:"need,min=1,max=MaxRunID"` // The client's name for the run.
	// The client's state. It comes back with the field footnote in it.
	State any `json:"state"`
	// The thread; the last message is the question, those before it are turns.
	Messages []Message `json:"messages" api:"need,min=1"`
	Context  []Context `json:"context"`        // Text that the answer may rest on besides the documents.
	Options  Options   `json:"forwardedProps"` // What an app may say of a question besides.
}

// Message is one message of a thread.
type Message struct {
	ID string `json:"id"` // The message's id; of an answer our run's.
	// user and assistant make the thread; system and developer are told to the model besides its rules, 8,000
	// characters in all. Others are let in and have no effect.
	Role    string      `json:"role"`
	Content ask.Content `json:"content"` // The text, or parts of it.
}

// Context is text that an app gives with a question.
type Context struct {
	Description string `json:"description"` // What the text is.
	Value       string `json:"value"`       // The text.
}

// Options are what an app may say of a question besides.
type Options struct {
	// The namespace; without one documents go to "default" and searches go everywhere.
	Namespace   string         `json:"namespace"`
	DocumentIDs []string       `json:"document_ids"` // Only in these documents; none: in all.
	Toolset     string         `json:"toolset"`
	Config      chat.RunConfig `json:"config"`
}

// MaxRunID is how long a run's name may be, in bytes: it is a part of an Idempotency-Key.
const MaxRunID = 100

// Run answers POST /ag-ui. A runId that was there before in the thread, with the same question, gives that run again.
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

// question makes a question of the input. again means that it may take the place of another one: it follows an answer.
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

// conversation is the text of the messages, without tools and what has no text. Of the messages that are ours, the
// id's first part is the run's.
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

// withFootnote is a client's state with ours beside what it holds.
func (in Input) withFootnote(ours State) map[string]any {
	state, _ := in.State.(map[string]any) // what is no object is replaced by one
	out := make(map[string]any, len(state)+1)
	for name, value := range state {
		out[name] = value
	}
	out["footnote"] = ours
	return out
}

// State is the field footnote of the state: the run, and what its answer rests on.
type State struct {
	RunID     string         `json:"run_id"`
	SessionID string         `json:"session_id"`
	Status    chat.RunStatus `json:"status"`
	// Call ids of steps that wait for a person: /agent/runs/{run_id}/steps/{call}/approve or deny.
	Waiting []string                `json:"waiting"`
	Sources []runlog.GroundedSource `json:"sources"`
	Judged  *runlog.Judged          `json:"judged,omitempty"` // How far the answer can be relied on, and why.
}

// Event is one event of the protocol: which fields it has depends on its type.
type Event struct {
	Type            string `json:"type"`                // What the event is; the protocol's documentation has them all.
	ThreadID        string `json:"threadId,omitempty"`  // The thread's id.
	RunID           string `json:"runId,omitempty"`     // The client's name for the run.
	MessageID       string `json:"messageId,omitempty"` // The message's id; of the answer our run's.
	Role            string `json:"role,omitempty"`
	Delta           string `json:"delta,omitempty"`           // The next piece.
	ToolCallID      string `json:"toolCallId,omitempty"`      // Our run's id, _ and the step's.
	ToolCallName    string `json:"toolCallName,omitempty"`    // The tool's name.
	ParentMessageID string `json:"parentMessageId,omitempty"` // The message that has the run's calls.
	// What the tool returned, as JSON, or why it failed, as a sentence.
	Content  string          `json:"content,omitempty"`
	Snapshot map[string]any  `json:"snapshot,omitempty"` // The client's state with ours as footnote (AgUiState).
	Outcome  json.RawMessage `json:"outcome,omitempty"`  // How the run ended, if it was stopped; absent: success.
	// What went wrong, as a sentence.
	Message string    `json:"message,omitempty"`
	Code    chat.Code `json:"code,omitempty"`
}
