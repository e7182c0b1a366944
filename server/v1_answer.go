package server

import (
	"strconv"
	"unicode/utf8"

	"footnote/chat"
	"footnote/server/runlog"
)

// v1Completion is an answer in OpenAI's shape. Its id is "chatcmpl-" and the run's id.
type v1Completion struct {
	ID      string     `json:"id"`
	Object  string     `json:"object"` // chat.completion
	Created int64      `json:"created"`
	Model   string     `json:"model"`
	Choices []v1Choice `json:"choices"`
	Usage   v1Usage    `json:"usage"`

	Footnote runlog.Judged `json:"footnote"` // which OpenAI's shape has no place for
}

type v1Choice struct {
	Index        int       `json:"index"`
	Message      v1Reply   `json:"message"`
	FinishReason string    `json:"finish_reason"` // stop
	Logprobs     *struct{} `json:"logprobs"`      // always null
}

type v1Reply struct {
	Role        string         `json:"role"` // assistant
	Content     string         `json:"content"`
	Refusal     *string        `json:"refusal"` // always null: "not in your documents" is an answer
	Annotations []v1Annotation `json:"annotations"`
}

// v1Annotation ties a footnote of the content to its source.
type v1Annotation struct {
	Type        string     `json:"type"` // url_citation
	URLCitation v1Citation `json:"url_citation"`
}

// v1Citation says where a footnote stands, as characters (Unicode code points) of the content, and what it points to.
type v1Citation struct {
	StartIndex int    `json:"start_index"`
	EndIndex   int    `json:"end_index"` // behind the last character
	Title      string `json:"title"`
	URL        string `json:"url"`
}

type v1Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

func newV1Usage(t chat.Tokens) v1Usage {
	return v1Usage{PromptTokens: t.In, CompletionTokens: t.Out, TotalTokens: t.In + t.Out}
}

func v1ID(runID string) string { return "chatcmpl-" + runID }

func v1Answer(t *runlog.Trace, base string) v1Completion {
	return v1Completion{
		ID: v1ID(t.RunID), Object: "chat.completion", Created: t.CreatedAt.Unix(), Model: v1Model,
		Choices: []v1Choice{{
			Message:      v1Reply{Role: "assistant", Content: t.Text, Annotations: annotations(t.Text, t.Citations, base, 0)},
			FinishReason: "stop",
		}},
		Usage: newV1Usage(t.Tokens), Footnote: t.Judged(),
	}
}

// v1Failure is the error of a run that has no answer to hand over.
func v1Failure(t *runlog.Trace) error {
	if t.Withheld() {
		text, _ := t.Spoken()
		return &chat.Error{Code: chat.CodeGuardrail, Message: text}
	}
	return runlog.FailureOf(t)
}

// annotations finds the footnotes of citations in a text. offset is how many characters of the content come before it.
func annotations(markdown string, citations []chat.Citation, base string, offset int) []v1Annotation {
	byNumber := make(map[string]chat.Citation, len(citations))
	for _, cite := range citations {
		byNumber[strconv.Itoa(cite.Number)] = cite
	}
	list := []v1Annotation{}
	for _, at := range runlog.Footnotes(markdown) {
		cite, ok := byNumber[markdown[at[0]+1:at[1]-1]]
		if !ok {
			continue
		}
		start := offset + utf8.RuneCountInString(markdown[:at[0]])
		list = append(list, v1Annotation{Type: "url_citation", URLCitation: v1Citation{
			StartIndex: start, EndIndex: start + at[1] - at[0], Title: cite.Title, URL: runlog.Absolute(base, cite.URL),
		}})
	}
	return list
}
