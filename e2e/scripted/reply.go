package scripted

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/agent/llm"
)

// fillReply fills in a script's missing fields.
//
// n is the number of the request, which makes call ids unique. The usage is 100 tokens for the prompt, a token for
// each chunk and 20 for each call.
func (r Reply) fillReply(n int) Reply {
	if r.Chunks == nil {
		// Non-nil Chunks may be empty: a reply without text.
		r.Chunks = Words(r.Text)
	}
	r.Calls = slices.Clone(r.Calls)
	for i := range r.Calls {
		if r.Calls[i].ID == "" {
			r.Calls[i].ID = fmt.Sprintf("call_%d_%d", n, i)
		}
		if len(r.Calls[i].Arguments) == 0 {
			r.Calls[i].Arguments = []byte("{}")
		}
	}
	if r.Finish == "" {
		r.Finish = llm.FinishStop
		if len(r.Calls) > 0 {
			r.Finish = llm.FinishCalls
		}
	}
	if r.Usage == nil {
		r.Usage = &llm.Usage{In: 100, Out: len(r.Chunks) + 20*len(r.Calls)}
	}
	return r
}

// Words splits a text into words with the space before them, about the tokens of a model. Joined they are the text.
func Words(text string) []string {
	var out []string
	start, inSpace := 0, true
	for i, r := range text {
		space := unicode.IsSpace(r)
		if space && !inSpace {
			out = append(out, text[start:i])
			start = i
		}
		inSpace = space
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// exactChunks returns n chunks: the given ones truncated or repeated. With n of 0 or less, or without chunks, it
// returns its input.
func exactChunks(chunks []string, n int) []string {
	if n <= 0 || len(chunks) == 0 {
		return chunks
	}
	out := make([]string, n)
	for i := range out {
		out[i] = chunks[i%len(chunks)]
		if i > 0 && i%len(chunks) == 0 && !strings.HasPrefix(out[i], " ") {
			out[i] = " " + out[i]
		}
	}
	return out
}
