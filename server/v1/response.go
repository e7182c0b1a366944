package v1

import (
	"encoding/json"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
)

// Response is a run in the schema of OpenAI's Responses API. Its id is "resp_" and the run's id.
type Response struct {
	ID                string         `json:"id"` // "resp_" and the run's id.
	Object            string         `json:"object" api:"values=response"`
	CreatedAt         int64          `json:"created_at"`
	Status            string         `json:"status" api:"values=in_progress|completed|incomplete|failed|cancelled"`
	CompletedAt       *int64         `json:"completed_at"` // When the answer was complete, in Unix seconds.
	Background        bool           `json:"background"`   // Always false: each run continues without a reader.
	Error             *ResponseError `json:"error"`
	IncompleteDetails *Incomplete    `json:"incomplete_details"` // Why an answer is truncated.
	Instructions      *string        `json:"instructions"`       // The instructions added to the model's rules.
	MaxOutputTokens   *int           `json:"max_output_tokens"`  // Always null: the length of answers is not limited.
	Model             string         `json:"model"`
	// The run's items in order: V1FileSearchItem, V1WebSearchItem and V1ReasoningItem, and the answer as
	// V1MessageItem.
	Output            []any             `json:"output"`
	ParallelToolCalls bool              `json:"parallel_tool_calls"`  // Always true.
	Previous          *string           `json:"previous_response_id"` // The preceding response in the conversation.
	Conversation      ConversationNamed `json:"conversation"`         // Its conversation.
	Reasoning         ReasoningWish     `json:"reasoning"`            // The reasoning options: always empty.
	// Always true: the server stores each conversation until it is deleted, since footnotes link to it.
	Store       bool     `json:"store"`
	Temperature *float64 `json:"temperature"`
	Text        TextForm `json:"text"`
	ToolChoice  string   `json:"tool_choice"` // Always auto.
	// Always empty: the tools are Footnote's own.
	Tools      []any             `json:"tools"`
	TopP       *float64          `json:"top_p"`      // Always null.
	Truncation string            `json:"truncation"` // Always disabled.
	Usage      *ResponseUsage    `json:"usage"`      // Null while the run is under way.
	User       *string           `json:"user"`       // Always null.
	Metadata   map[string]string `json:"metadata"`   // Always empty.

	Footnote *runlog.Judged `json:"footnote,omitempty"` // after the answer
}

// ConversationNamed is the conversation of a response: the server's session.
type ConversationNamed struct {
	ID string `json:"id"`
}

// ReasoningWish holds the reasoning options: always empty.
type ReasoningWish struct {
	Effort  *string `json:"effort"`  // Always null.
	Summary *string `json:"summary"` // Always null.
}

// TextForm is the format of the answer.
type TextForm struct {
	Format TextFormat `json:"format"` // The format of the answer: text.
}

// TextFormat is the format of an answer.
type TextFormat struct {
	Type string `json:"type"` // text
}

// ResponseError is the reason for a missing answer.
type ResponseError struct {
	Code    string `json:"code" api:"values=server_error|rate_limit_exceeded|invalid_prompt"`
	Message string `json:"message"`
}

// ResponseUsage counts the tokens of a run. Cached tokens and reasoning tokens are not counted separately.
type ResponseUsage struct {
	InputTokens   int           `json:"input_tokens"`          // Input tokens of models.
	InputDetails  InputDetails  `json:"input_tokens_details"`  // Cached tokens.
	OutputTokens  int           `json:"output_tokens"`         // Output tokens of models.
	OutputDetails OutputDetails `json:"output_tokens_details"` // Reasoning tokens.
	TotalTokens   int           `json:"total_tokens"`          // All tokens.
}

// InputDetails counts cached tokens.
type InputDetails struct {
	CachedTokens int `json:"cached_tokens"` // Always 0: they are not counted separately.
}

// OutputDetails counts reasoning tokens.
type OutputDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"` // Always 0: they are not counted separately.
}

// Incomplete is the reason for a truncated answer.
type Incomplete struct {
	Reason string `json:"reason" api:"values=max_output_tokens"` // The model's token limit.
}

// The states of responses and of their items.
const (
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
	failed     = "failed"
	cancelled  = "cancelled"
)

// responseID returns the id of a run's response.
func responseID(runID string) string { return "resp_" + runID }

// newResponse returns the response of a running run, without output.
func newResponse(run chat.Run) Response {
	out := Response{
		ID: responseID(run.ID), Object: "response", CreatedAt: run.CreatedAt.Unix(), Status: inProgress,
		Model: ModelName, Output: []any{}, ParallelToolCalls: true, Store: true, ToolChoice: "auto", Tools: []any{},
		Conversation: ConversationNamed{run.SessionID}, Temperature: run.Request.Config.Temperature,
		Text: TextForm{TextFormat{"text"}}, Truncation: "disabled", Metadata: map[string]string{},
	}
	if run.Request.Instructions != "" {
		out.Instructions = &run.Request.Instructions
	}
	if run.ParentID != "" {
		out.Previous = new(responseID(run.ParentID))
	}
	return out
}

// ended returns the response with the results of a finished run. failure is the reason for a missing answer.
func (r Response) ended(t *runlog.Trace, failure error) Response {
	r.Status = completed
	r.Usage = &ResponseUsage{
		InputTokens: t.Tokens.In, OutputTokens: t.Tokens.Out, TotalTokens: t.Tokens.In + t.Tokens.Out,
	}
	if t.EndedAt != nil {
		r.CompletedAt = new(t.EndedAt.Unix())
	}
	switch {
	case failure != nil:
		r.Status, r.CompletedAt = failed, nil
		r.Error = newResponseError(failure)
		return r
	case t.Status == chat.RunCancelled:
		r.Status, r.CompletedAt = cancelled, nil
	case t.FinishReason() == "length":
		r.Status, r.CompletedAt, r.IncompleteDetails = incomplete, nil, &Incomplete{"max_output_tokens"}
	}
	r.Footnote = new(t.Judged())
	return r
}

// newResponseError converts a failure to OpenAI's error codes.
func newResponseError(err error) *ResponseError {
	e := httpio.AsError(err)
	out := &ResponseError{Code: "server_error", Message: e.Message}
	switch status := httpio.Status(e.Code); {
	case status == http.StatusTooManyRequests:
		out.Code = "rate_limit_exceeded"
	case status < http.StatusInternalServerError:
		out.Code = "invalid_prompt"
	}
	return out
}

// MessageItem is the answer.
type MessageItem struct {
	Type    string     `json:"type"` // message
	ID      string     `json:"id"`
	Status  string     `json:"status" api:"values=in_progress|completed|incomplete"`
	Role    string     `json:"role"` // assistant
	Content []TextPart `json:"content"`
}

// TextPart is the answer's text with its footnotes.
type TextPart struct {
	Type        string               `json:"type"` // output_text
	Text        string               `json:"text"`
	Annotations []ResponseAnnotation `json:"annotations"`
	Logprobs    []any                `json:"logprobs"` // Always empty.
}

// ResponseAnnotation links a footnote of the text to its source: a Citation with its type, and fields that are not
// in OpenAI's schema.
type ResponseAnnotation struct {
	Type string `json:"type" api:"values=url_citation"`
	Citation
	FileID   string `json:"file_id"`  // The document's id.
	Filename string `json:"filename"` // The document's file name.
	// The cited words, exactly as in the document.
	Quote string `json:"quote"`
}

// FileSearchItem is a search in the documents.
type FileSearchItem struct {
	Type    string         `json:"type"` // file_search_call
	ID      string         `json:"id"`
	Status  string         `json:"status"`
	Queries []string       `json:"queries"` // The queries.
	Results []SearchResult `json:"results"` // The results; empty until it is over.
}

// SearchResult is a passage in the results.
type SearchResult struct {
	// The document's id; empty for a web page that was not stored.
	FileID   string  `json:"file_id"`
	Filename string  `json:"filename"`
	Score    float64 `json:"score"` // 0 if the search has none
	Text     string  `json:"text"`  // The beginning of the passage.
	// The known ones of: title, section, page, url, source_url.
	Attributes map[string]string `json:"attributes"`
}

// WebSearchItem is a search on the web.
type WebSearchItem struct {
	Type   string    `json:"type"` // web_search_call
	ID     string    `json:"id"`
	Status string    `json:"status"`
	Action WebAction `json:"action"` // The search and its results.
}

// WebAction is a web search.
type WebAction struct {
	Type    string      `json:"type"` // search
	Query   string      `json:"query"`
	Sources []WebSource `json:"sources"`
}

// WebSource is a web page in the results.
type WebSource struct {
	Type string `json:"type"` // url
	URL  string `json:"url"`
}

// ReasoningItem is another step of the run, as text.
type ReasoningItem struct {
	Type    string        `json:"type"` // reasoning
	ID      string        `json:"id"`
	Status  string        `json:"status"`
	Summary []SummaryPart `json:"summary"`
}

// SummaryPart is a sentence about a step.
type SummaryPart struct {
	Type string `json:"type"` // summary_text
	Text string `json:"text"`
}

// ResponseEvent is one event of a streamed response; its fields depend on its type.
type ResponseEvent struct {
	Type string `json:"type"` // The type of the event; OpenAI's documentation lists them.
	// The event's sequence number in its response, from 0 without gaps.
	SequenceNumber int64     `json:"sequence_number"`
	Response       *Response `json:"response,omitempty"` // The current response.
	// The item's index among all started ones, from 0.
	OutputIndex  *int   `json:"output_index,omitempty"`
	ItemID       string `json:"item_id,omitempty"`       // The item's id.
	ContentIndex *int   `json:"content_index,omitempty"` // The index of the part in the message: 0.
	// The index of a sentence about a step, from 0.
	SummaryIndex    *int                `json:"summary_index,omitempty"`
	AnnotationIndex *int                `json:"annotation_index,omitempty"` // Its index among the footnotes, from 0.
	Item            any                 `json:"item,omitempty"`             // The current item of the output.
	Part            any                 `json:"part,omitempty"`             // The current part of the item.
	Annotation      *ResponseAnnotation `json:"annotation,omitempty"`       // A footnote of the text.
	Delta           *string             `json:"delta,omitempty"`
	Text            *string             `json:"text,omitempty"`
	Logprobs        json.RawMessage     `json:"logprobs,omitempty"` // Of text: always empty.
}
