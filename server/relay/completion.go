package relay

import (
	"cmp"
	"strconv"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// V1Completion is an answer in OpenAI's schema. Its id is "chatcmpl-" and the run's id.
type V1Completion struct {
	ID string `json:"id"` // "chatcmpl-" followed by the run ID.
	// The type of the object.
	Object  string     `json:"object" api:"values=chat.completion,shared"`
	Created int64      `json:"created" api:"shared"` // The creation time, in Unix seconds.
	Model   string     `json:"model"`
	Choices []V1Choice `json:"choices"` // Always one.
	Usage   V1Usage    `json:"usage"`   // The token usage.

	// The reliability of the answer, with reasons.
	Footnote runlog.Judged `json:"footnote" api:"shared"` // not in OpenAI's schema
}

// V1Choice is an answer; there is always one.
type V1Choice struct {
	Index        int       `json:"index"`                                  // Always 0.
	Message      V1Reply   `json:"message"`                                // The answer.
	FinishReason string    `json:"finish_reason" api:"values=stop|length"` // stop, or length at the token limit.
	Logprobs     *struct{} `json:"logprobs" api:"shared"`                  // Always null.
}

// V1Reply is the answer's message.
type V1Reply struct {
	Role    string `json:"role" api:"values=assistant"`
	Content string `json:"content"` // The answer, in Markdown with footnotes [N].
	// Always null: a statement that the documents have no answer is an answer.
	Refusal     *string        `json:"refusal"`                  // always null: "not in your documents" is an answer
	Annotations []V1Annotation `json:"annotations" api:"shared"` // The footnotes of the content, in order.
}

// V1Annotation links a footnote of the content to its source.
type V1Annotation struct {
	// The type of the object.
	Type        string     `json:"type" api:"values=url_citation,shared"`
	URLCitation V1Citation `json:"url_citation"` // The footnote's position and its source.
}

// V1Citation is a footnote's position, in characters (Unicode code points) of the content, and its source.
type V1Citation struct {
	StartIndex int `json:"start_index"` // The footnote's start, in characters of the content.
	// The footnote's end (exclusive), in characters of the content.
	EndIndex  int    `json:"end_index"`
	Title     string `json:"title"`
	URL       string `json:"url"`                  // of the viewer, at the quoted words
	SourceURL string `json:"source_url,omitempty"` // the document's web address; not in OpenAI's schema
	Added     bool   `json:"added,omitempty"`
}

// V1Usage counts the tokens of a run.
type V1Usage struct {
	PromptTokens     int `json:"prompt_tokens"`     // Input tokens of the model.
	CompletionTokens int `json:"completion_tokens"` // Output tokens of the model.
	TotalTokens      int `json:"total_tokens"`      // All tokens.

	// Cached tokens.
	PromptDetails     V1InputDetails  `json:"prompt_tokens_details"`
	CompletionDetails V1OutputDetails `json:"completion_tokens_details"` // Reasoning tokens.
}

// V1Chunk is one chunk of a streamed answer.
type V1Chunk struct {
	ID      string    `json:"id"` // "chatcmpl-" followed by the run ID.
	Object  string    `json:"object" api:"values=chat.completion.chunk"`
	Created int64     `json:"created"`
	Model   string    `json:"model"`
	Choices []V1Piece `json:"choices"` // Always one.
	// The token usage.
	Usage **V1Usage `json:"usage,omitempty"` // only if requested: null except in the last chunk

	// The reliability of the answer, with reasons: in the chunk with the finish_reason.
	Footnote *runlog.Judged `json:"footnote,omitempty"`
}

// V1Piece is a chunk's delta of a choice.
type V1Piece struct {
	Index        int       `json:"index"`              // Always 0.
	Delta        V1Delta   `json:"delta" api:"shared"` // The added part.
	FinishReason *string   `json:"finish_reason"`      // stop, or length at the model's token limit.
	Logprobs     *struct{} `json:"logprobs"`           // always null
}

// V1Delta is a chunk's addition to the message.
type V1Delta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	// The current progress, as a line of text.
	ReasoningContent string         `json:"reasoning_content,omitempty"` // such as "Searching for: roof"
	Annotations      []V1Annotation `json:"annotations,omitempty"`       // before the end, of the whole content
}

// completionID returns the id of a run's completion.
func completionID(runID string) string { return "chatcmpl-" + runID }

// newUsage converts token counts to OpenAI's names.
func newUsage(t chat.Tokens) V1Usage {
	return V1Usage{PromptTokens: t.In, CompletionTokens: t.Out, TotalTokens: t.In + t.Out}
}

// newCompletion converts a run's answer to a completion.
func newCompletion(t *runlog.Trace, base string) V1Completion {
	return V1Completion{
		ID: completionID(t.RunID), Object: "chat.completion", Created: t.CreatedAt.Unix(), Model: ModelName,
		Choices: []V1Choice{{
			Message: V1Reply{
				Role: "assistant", Content: t.Text, Annotations: annotations(t.Text, t.Citations, base, 0),
			},
			FinishReason: t.FinishReason(),
		}},
		Usage: newUsage(t.Tokens), Footnote: t.Judged(),
	}
}

// annotations returns the footnotes of a text as a completion has them. offset is the number of characters of the
// content before it.
func annotations(markdown string, citations []chat.Citation, base string, offset int) []V1Annotation {
	list := []V1Annotation{}
	for _, mark := range responseAnnotations(markdown, citations, base) {
		mark.StartIndex += offset
		mark.EndIndex += offset
		list = append(list, V1Annotation{Type: mark.Type, URLCitation: mark.V1Citation})
	}
	return list
}

// responseAnnotations returns the footnotes of a text as a response has them.
func responseAnnotations(markdown string, citations []chat.Citation, base string) []V1ResponseAnnotation {
	byNumber := make(map[string]chat.Citation, len(citations))
	for _, cite := range citations {
		byNumber[strconv.Itoa(cite.Number)] = cite
	}
	list := []V1ResponseAnnotation{}
	for _, at := range runlog.Footnotes(markdown) {
		cite, ok := byNumber[markdown[at[0]+1:at[1]-1]]
		if !ok {
			continue
		}
		start := utf8.RuneCountInString(markdown[:at[0]])
		list = append(list, V1ResponseAnnotation{
			Type: "url_citation", V1Citation: V1Citation{
				StartIndex: start, EndIndex: start + at[1] - at[0], Title: cite.Title,
				URL: runlog.Absolute(base, cite.URL), SourceURL: cite.SourceURL, Added: cite.Added,
			}, FileID: cite.DocumentID, Filename: cmp.Or(cite.Filename, cite.Title), Quote: cite.Quote,
		})
	}
	return list
}
