package aisdk

import (
	"encoding/json"

	"footnote/chat"
	"footnote/server/runlog"
)

// Chunk is one message of the stream: which fields it has depends on its type.
type Chunk struct {
	Type             string          `json:"type"`
	ID               string          `json:"id,omitempty"` // of a text or a thought, in this answer
	Delta            string          `json:"delta,omitempty"`
	MessageID        string          `json:"messageId,omitempty"` // the run's id
	MessageMetadata  *Metadata       `json:"messageMetadata,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	Title            string          `json:"title,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	Output           json.RawMessage `json:"output,omitempty"`
	Dynamic          bool            `json:"dynamic,omitempty"`
	ProviderExecuted bool            `json:"providerExecuted,omitempty"`
	ToolMetadata     *ToolMetadata   `json:"toolMetadata,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"` // a sentence for people
	SourceID         string          `json:"sourceId,omitempty"`  // the footnote's number
	URL              string          `json:"url,omitempty"`
	ProviderMetadata *SourceMetadata `json:"providerMetadata,omitempty"`
	FinishReason     string          `json:"finishReason,omitempty"`
	Reason           string          `json:"reason,omitempty"`
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
	Status     chat.Status `json:"status"`  // pending: it waits for a person's approval
	Message    string      `json:"message"` // "Found 3 documents"
	DurationMS int64       `json:"duration_ms"`
	Truncated  bool        `json:"truncated,omitempty"` // the output is cut
}

// SourceMetadata ties a source to the words of a document.
type SourceMetadata struct {
	Footnote runlog.GroundedSource `json:"footnote"`
}
