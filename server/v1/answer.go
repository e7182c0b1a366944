package v1

import (
	"strconv"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/runlog"
)

// Completion is an answer in OpenAI's schema. Its id is "chatcmpl-" and the run's id.
type Completion struct {
	ID string `json:"id"` // "chatcmpl-" and the run's id.
	// The type of the object.
	Object  string   `json:"object" api:"values=chat.completion,shared"`
	Created int64    `json:"created" api:"shared"` // The creation time, in Unix seconds.
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"` // Always one.
	Usage   Usage    `json:"usage"`   // The token usage.

	// The reliability of the answer, with reasons.
	Footnote runlog.Judged `json:"footnote" api:"shared"` // not in OpenAI's schema
}

// Choice is an answer; there is always one.
type Choice struct {
	Index        int       `json:"index"`                                  // Always 0.
	Message      Reply     `json:"message"`                                // The answer.
	FinishReason string    `json:"finish_reason" api:"values=stop|length"` // stop, or length at the token limit.
	Logprobs     *struct{} `json:"logprobs" api:"shared"`                  // Always null.
}

// Reply is the answer's message.
type Reply struct {
	Role    string `json:"role" api:"values=assistant"`
	Content string `json:"content"` // The answer, in Markdown with footnotes [N].
	// Always null: a statement that the documents have no answer is an answer.
	Refusal     *string      `json:"refusal"`                  // always null: "not in your documents" is an answer
	Annotations []Annotation `json:"annotations" api:"shared"` // The footnotes of the content, in order.
}

// Annotation links a footnote of the content to its source.
type Annotation struct {
	// The type of the object.
	Type        string   `json:"type" api:"values=url_citation,shared"`
	URLCitation Citation `json:"url_citation"` // The footnote's position and its source.
}

// Citation is a footnote's position, in characters (Unicode code points) of the content, and its source.
type Citation struct {
	StartIndex int `json:"start_index"` // The footnote's start, in characters of the content.
	// The footnote's end (exclusive), in characters of the content.
	EndIndex  int    `json:"end_index"`
	Title     string `json:"title"`
	URL       string `json:"url"`                  // of the viewer, at the quoted words
	SourceURL string `json:"source_url,omitempty"` // the document's web address; not in OpenAI's schema
	Added     bool   `json:"added,omitempty"`
}

// Usage counts the tokens of a run.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`     // Input tokens of the model.
	CompletionTokens int `json:"completion_tokens"` // Output tokens of the model.
	TotalTokens      int `json:"total_tokens"`      // All tokens.

	// Cached tokens.
	PromptDetails     InputDetails  `json:"prompt_tokens_details"`
	CompletionDetails OutputDetails `json:"completion_tokens_details"` // Reasoning tokens.
}

// newUsage converts token counts to OpenAI's names.
func newUsage(t chat.Tokens) Usage {
	return Usage{PromptTokens: t.In, CompletionTokens: t.Out, TotalTokens: t.In + t.Out}
}

// completionID returns the id of a run's completion.
func completionID(runID string) string { return "chatcmpl-" + runID }

// newCompletion converts a run's answer to a completion.
func newCompletion(t *runlog.Trace, base string) Completion {
	return Completion{
		ID: completionID(t.RunID), Object: "chat.completion", Created: t.CreatedAt.Unix(), Model: ModelName,
		Choices: []Choice{{
			Message: Reply{
				Role: "assistant", Content: t.Text, Annotations: findAnnotations(t.Text, t.Citations, base, 0),
			},
			FinishReason: t.FinishReason(),
		}},
		Usage: newUsage(t.Tokens), Footnote: t.Judged(),
	}
}

// findAnnotations returns the footnotes of citations in a text. offset is the number of characters of the content
// before it.
func findAnnotations(markdown string, citations []chat.Citation, base string, offset int) []Annotation {
	list := []Annotation{}
	for _, found := range placeCitations(markdown, citations, base, offset) {
		list = append(list, Annotation{Type: "url_citation", URLCitation: found.place})
	}
	return list
}

// placed is a footnote in a text with its citation.
type placed struct {
	place Citation
	of    chat.Citation
}

// placeCitations returns the footnotes of citations in a text, as findAnnotations does.
func placeCitations(markdown string, citations []chat.Citation, base string, offset int) (list []placed) {
	byNumber := make(map[string]chat.Citation, len(citations))
	for _, cite := range citations {
		byNumber[strconv.Itoa(cite.Number)] = cite
	}
	for _, at := range runlog.Footnotes(markdown) {
		cite, ok := byNumber[markdown[at[0]+1:at[1]-1]]
		if !ok {
			continue
		}
		start := offset + utf8.RuneCountInString(markdown[:at[0]])
		list = append(list, placed{Citation{
			StartIndex: start, EndIndex: start + at[1] - at[0], Title: cite.Title, URL: runlog.Absolute(base, cite.URL),
			SourceURL: cite.SourceURL, Added: cite.Added,
		}, cite})
	}
	return list
}
