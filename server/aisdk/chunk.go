package aisdk

import (
	"encoding/json"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// Chunk is one message of the stream; its fields depend on its type.
type Chunk struct {
	Type string `json:"type"` // The type of the chunk; the SDK's documentation lists them.
	// The id of a text or thought.
	ID    string `json:"id,omitempty"`
	Delta string `json:"delta,omitempty"`
	// The message's id, which is the run's: use it for cancel, feedback and export.
	MessageID string `json:"messageId,omitempty"`
	// Metadata of the answer; most of it in the chunk finish.
	MessageMetadata *Metadata       `json:"messageMetadata,omitempty"`
	ToolCallID      string          `json:"toolCallId,omitempty"` // The tool call's id, which is the step's.
	ToolName        string          `json:"toolName,omitempty"`   // The tool's name.
	Title           string          `json:"title,omitempty"`
	Input           json.RawMessage `json:"input,omitempty"`  // The tool's arguments.
	Output          json.RawMessage `json:"output,omitempty"` // The tool's result.
	// Always true for tools: the client need not define them.
	Dynamic          bool          `json:"dynamic,omitempty"`
	ProviderExecuted bool          `json:"providerExecuted,omitempty"` // Always true for tools: the server calls them.
	ToolMetadata     *ToolMetadata `json:"toolMetadata,omitempty"`     // The call as text.
	// The error, as a sentence.
	ErrorText        string          `json:"errorText,omitempty"`
	SourceID         string          `json:"sourceId,omitempty"`         // The footnote's number in the text.
	URL              string          `json:"url,omitempty"`              // The viewer's address, at the quoted words.
	ProviderMetadata *SourceMetadata `json:"providerMetadata,omitempty"` // The place of the source's words.
	FinishReason     string          `json:"finishReason,omitempty"`     // stop or length.
	Reason           string          `json:"reason,omitempty"`           // Why the answer was stopped.
}

// Metadata holds a message's fields that are not in the SDK's schema. All except the ids are sent at its end.
type Metadata struct {
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	Status    chat.RunStatus  `json:"status,omitempty"`
	Tokens    *chat.Tokens    `json:"tokens,omitempty"`
	Footnote  *runlog.Judged  `json:"footnote,omitempty"`
	Reason    chat.StopReason `json:"stop_reason,omitempty"`
}

// ToolMetadata holds the fields of a tool call that the page shows.
type ToolMetadata struct {
	// pending: it waits for approval, /agent/runs/{run_id}/steps/{call}/approve or deny.
	Status     chat.Status `json:"status"`
	Message    string      `json:"message"` // "Found 3 documents"
	DurationMS int64       `json:"duration_ms"`
	Truncated  bool        `json:"truncated,omitempty"` // the output is truncated
}

// SourceMetadata links a source to the words of a document.
type SourceMetadata struct {
	// The footnote: document, place, quote, and the result of the quote check.
	Footnote runlog.GroundedSource `json:"footnote"`
}
