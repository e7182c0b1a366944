package aisdk

import (
	"encoding/json"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// Chunk is one message of the stream: which fields it has depends on its type.
type Chunk struct {
	Type string `json:"type"` // What the chunk is; the SDK's documentation has them all.
	// Of a text or thought.
	ID    string `json:"id,omitempty"`
	Delta string `json:"delta,omitempty"`
	// The message's id, which is the run's: cancel, feedback and export take it.
	MessageID string `json:"messageId,omitempty"`
	// What there is to know about the answer; most of it in the chunk finish.
	MessageMetadata *Metadata       `json:"messageMetadata,omitempty"`
	ToolCallID      string          `json:"toolCallId,omitempty"` // The tool call's id, which is the step's.
	ToolName        string          `json:"toolName,omitempty"`   // The tool's name.
	Title           string          `json:"title,omitempty"`
	Input           json.RawMessage `json:"input,omitempty"`  // The tool's arguments.
	Output          json.RawMessage `json:"output,omitempty"` // What the tool returned.
	// Always true of tools: a client need not know them.
	Dynamic          bool          `json:"dynamic,omitempty"`
	ProviderExecuted bool          `json:"providerExecuted,omitempty"` // Always true of tools: the server calls them.
	ToolMetadata     *ToolMetadata `json:"toolMetadata,omitempty"`     // The call in words.
	// What went wrong, as a sentence.
	ErrorText        string          `json:"errorText,omitempty"`
	SourceID         string          `json:"sourceId,omitempty"`         // The footnote's number in the text.
	URL              string          `json:"url,omitempty"`              // Of the viewer, at the very words.
	ProviderMetadata *SourceMetadata `json:"providerMetadata,omitempty"` // Where the source's words stand.
	FinishReason     string          `json:"finishReason,omitempty"`     // stop or length.
	Reason           string          `json:"reason,omitempty"`           // Why the answer was stopped.
}

// Metadata says of a message what the SDK's shape has no place for. All but the ids come with its end.
type Metadata struct {
	RunID     string          `json:"run_id"`
	SessionID string          `json:"session_id"`
	Status    chat.RunStatus  `json:"status,omitempty"`
	Tokens    *chat.Tokens    `json:"tokens,omitempty"`
	Footnote  *runlog.Judged  `json:"footnote,omitempty"`
	Reason    chat.StopReason `json:"stop_reason,omitempty"`
}

// ToolMetadata says of a tool call what the page shows of it.
type ToolMetadata struct {
	// pending: it waits for a person, /agent/runs/{run_id}/steps/{call}/approve or deny.
	Status     chat.Status `json:"status"`
	Message    string      `json:"message"` // "Found 3 documents"
	DurationMS int64       `json:"duration_ms"`
	Truncated  bool        `json:"truncated,omitempty"` // the output is cut
}

// SourceMetadata ties a source to the words of a document.
type SourceMetadata struct {
	// The footnote: document, place, quote, and how the quote was checked.
	Footnote runlog.GroundedSource `json:"footnote"`
}
