package relay

import "github.com/footnote/footnote/server/runlog"

// V1Response is a run in the schema of OpenAI's Responses API. Its id is "resp_" and the run's id.
type V1Response struct {
	ID                string           `json:"id"` // "resp_" followed by the run ID.
	Object            string           `json:"object" api:"values=response"`
	CreatedAt         int64            `json:"created_at"`
	Status            string           `json:"status" api:"values=in_progress|completed|incomplete|failed|cancelled"`
	CompletedAt       *int64           `json:"completed_at"` // When the answer was complete, in Unix seconds.
	Background        bool             `json:"background"`   // Always false: each run continues without a reader.
	Error             *V1ResponseError `json:"error"`
	IncompleteDetails *V1Incomplete    `json:"incomplete_details"` // The reason why the answer is truncated.
	Instructions      *string          `json:"instructions"`       // The instructions added to the model's rules.
	MaxOutputTokens   *int             `json:"max_output_tokens"`  // Always null: the length of answers is not limited.
	Model             string           `json:"model"`
	// The run's items in order: V1FileSearchItem, V1WebSearchItem and V1ReasoningItem, and the answer as
	// V1MessageItem.
	Output            []any               `json:"output"`
	ParallelToolCalls bool                `json:"parallel_tool_calls"`  // Always true.
	Previous          *string             `json:"previous_response_id"` // The preceding response in the conversation.
	Conversation      V1ConversationNamed `json:"conversation"`         // Its conversation.
	Reasoning         V1ReasoningWish     `json:"reasoning"`            // The reasoning options: always empty.
	// Always true: the server stores each conversation until it is deleted, since footnotes link to it.
	Store       bool       `json:"store"`
	Temperature *float64   `json:"temperature"`
	Text        V1TextForm `json:"text"`
	ToolChoice  string     `json:"tool_choice"` // Always auto.
	// Always empty: the tools are Footnote's own.
	Tools      []any             `json:"tools"`
	TopP       *float64          `json:"top_p"`      // Always null.
	Truncation string            `json:"truncation"` // Always disabled.
	Usage      *V1ResponseUsage  `json:"usage"`      // Null while the run is active.
	User       *string           `json:"user"`       // Always null.
	Metadata   map[string]string `json:"metadata"`   // Always empty.

	Footnote *runlog.Judged `json:"footnote,omitempty"` // after the answer
}

// V1ConversationNamed is the conversation of a response: the server's session.
type V1ConversationNamed struct {
	ID string `json:"id"`
}

// V1ReasoningWish holds the reasoning options: always empty.
type V1ReasoningWish struct {
	Effort  *string `json:"effort"`  // Always null.
	Summary *string `json:"summary"` // Always null.
}

// V1TextForm is the format of the answer.
type V1TextForm struct {
	Format V1TextFormat `json:"format"` // The format of the answer: text.
}

// V1TextFormat is the format of an answer.
type V1TextFormat struct {
	Type string `json:"type"` // text
}

// V1ResponseError is the reason for a missing answer.
type V1ResponseError struct {
	Code    string `json:"code" api:"values=server_error|rate_limit_exceeded|invalid_prompt"`
	Message string `json:"message"`
}

// V1ResponseUsage counts the tokens of a run. Cached tokens and reasoning tokens are not counted separately.
type V1ResponseUsage struct {
	InputTokens   int             `json:"input_tokens"`          // Input tokens of models.
	InputDetails  V1InputDetails  `json:"input_tokens_details"`  // Cached tokens.
	OutputTokens  int             `json:"output_tokens"`         // Output tokens of models.
	OutputDetails V1OutputDetails `json:"output_tokens_details"` // Reasoning tokens.
	TotalTokens   int             `json:"total_tokens"`          // All tokens.
}

// V1InputDetails counts cached tokens.
type V1InputDetails struct {
	CachedTokens int `json:"cached_tokens"` // Always 0: they are not counted separately.
}

// V1OutputDetails counts reasoning tokens.
type V1OutputDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"` // Always 0: they are not counted separately.
}

// V1Incomplete is the reason for a truncated answer.
type V1Incomplete struct {
	Reason string `json:"reason" api:"values=max_output_tokens"` // The model's token limit.
}

// V1MessageItem is the answer.
type V1MessageItem struct {
	Type    string       `json:"type"` // message
	ID      string       `json:"id"`
	Status  string       `json:"status" api:"values=in_progress|completed|incomplete"`
	Role    string       `json:"role"` // assistant
	Content []V1TextPart `json:"content"`
}

// V1TextPart is the answer's text with its footnotes.
type V1TextPart struct {
	Type        string                 `json:"type"` // output_text
	Text        string                 `json:"text"`
	Annotations []V1ResponseAnnotation `json:"annotations"`
	Logprobs    []any                  `json:"logprobs"` // Always empty.
}

// V1ResponseAnnotation links a footnote of the text to its source: a Citation with its type, and fields that are not
// in OpenAI's schema.
type V1ResponseAnnotation struct {
	Type string `json:"type" api:"values=url_citation"`
	V1Citation
	FileID   string `json:"file_id"`  // The document ID.
	Filename string `json:"filename"` // The document's file name.
	// The cited words, exactly as in the document.
	Quote string `json:"quote"`
}

// V1FileSearchItem is a search in the documents.
type V1FileSearchItem struct {
	Type    string           `json:"type"` // file_search_call
	ID      string           `json:"id"`
	Status  string           `json:"status"`
	Queries []string         `json:"queries"` // The queries.
	Results []V1SearchResult `json:"results"` // The results; empty until it is over.
}

// V1SearchResult is a passage in the results.
type V1SearchResult struct {
	// The document ID; empty for a web page that was not stored.
	FileID   string  `json:"file_id"`
	Filename string  `json:"filename"`
	Score    float64 `json:"score"` // 0 if the search has none
	Text     string  `json:"text"`  // The beginning of the passage.
	// The known ones of: title, section, page, url, source_url.
	Attributes map[string]string `json:"attributes"`
}

// V1WebSearchItem is a search on the web.
type V1WebSearchItem struct {
	Type   string      `json:"type"` // web_search_call
	ID     string      `json:"id"`
	Status string      `json:"status"`
	Action V1WebAction `json:"action"` // The search and its results.
}

// V1WebAction is a web search.
type V1WebAction struct {
	Type    string        `json:"type"` // search
	Query   string        `json:"query"`
	Sources []V1WebSource `json:"sources"`
}

// V1WebSource is a web page in the results.
type V1WebSource struct {
	Type string `json:"type"` // url
	URL  string `json:"url"`
}

// V1ReasoningItem is another step of the run, as text.
type V1ReasoningItem struct {
	Type    string          `json:"type"` // reasoning
	ID      string          `json:"id"`
	Status  string          `json:"status"`
	Summary []V1SummaryPart `json:"summary"`
}

// V1SummaryPart is a sentence about a step.
type V1SummaryPart struct {
	Type string `json:"type"` // summary_text
	Text string `json:"text"`
}

// V1ResponseEvent is one event of a streamed response; its fields depend on its type.
type V1ResponseEvent struct {
	Type string `json:"type"` // The type of the event; OpenAI's documentation lists them.
	// The event's sequence number in its response, from 0 without gaps.
	SequenceNumber int64       `json:"sequence_number"`
	Response       *V1Response `json:"response,omitempty"` // The current response.
	// The item's index among all started ones, from 0.
	OutputIndex  *int   `json:"output_index,omitempty"`
	ItemID       string `json:"item_id,omitempty"`       // The item ID.
	ContentIndex *int   `json:"content_index,omitempty"` // The index of the part in the message: 0.
	// The index of a sentence about a step, from 0.
	SummaryIndex    *int                  `json:"summary_index,omitempty"`
	AnnotationIndex *int                  `json:"annotation_index,omitempty"` // Its index among the footnotes, from 0.
	Item            any                   `json:"item,omitempty"`             // The current item of the output.
	Part            any                   `json:"part,omitempty"`             // The current part of the item.
	Annotation      *V1ResponseAnnotation `json:"annotation,omitempty"`       // A footnote of the text.
	Delta           *string               `json:"delta,omitempty"`
	Text            *string               `json:"text,omitempty"`
	Logprobs        *[]any                `json:"logprobs,omitempty"` // Of text: always empty.
}
