package scripted

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/agent/llm"
)

// fillReply fills in what a script left out.
//
// n is the number of the request, which makes ids of calls that differ between requests. The usage is 100 tokens for
// the prompt, and a token for each piece and 20 for each call.
func (r Reply) fillReply(n int) Reply {
	if r.Chunks == nil {
		// Chunks that are not nil may be empty: a reply without a text.
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

// Words cuts a text into pieces of a word with the space before it, about what models call a token. Joined they are
// the text.
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

// exactChunks returns n pieces: the given ones cut off, or said again and again. With n of 0 or less, or without any,
// it returns what it got.
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
