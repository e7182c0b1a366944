// Package offline is a rule-based model that needs no key and no network. It searches and reads with the same tools
// as any other model, and answers with sentences quoted word for word.
//
// It implements llm.Model, so the agent's loop, its checks and its logs are the same. next (in next.go) parses the
// history and returns either calls or the text. The other files belong to a step each. asking, request, open and
// topic parse the question. turn and tools parse the tool results; pool, table and frame split them into units.
// words, stretch, language and score weigh the units. quotes, finding, items, align and whole select the quotes;
// write renders Markdown.
//
// Every statement except those about its own search must be a quote from a document (docs/decisions/offline.md). It
// is deterministic.
package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/llm"
)

// Name is the model's name.
const Name = "offline"

// model is stateless, so that equal requests get equal replies.
type model struct {
	similar Similarity
	read    Reader
}

// New returns the offline model. similar compares embeddings; nil: scores are lexical only. read reads quotes for
// English questions; nil: scores decide.
func New(similar Similarity, read Reader) llm.Model { return model{similar, read} }

func (model) Name() string { return Name }

// Stream yields the next step: tool calls, or the answer in chunks of a few words. Ids of calls contain the number
// of messages, so that they differ from those of earlier turns. A footnote is a separate part (llm.Quoted),
// delimited by quoteMark in the composed text.
func (m model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		stopped := func() bool {
			if err := context.Cause(ctx); err != nil {
				yield(nil, &llm.Error{Kind: llm.KindCancelled, Message: "The request was canceled.", Err: err})
				return true
			}
			return false
		}
		if stopped() {
			return
		}
		t := newTurn(req)
		next, err := m.next(ctx, t)
		if err != nil {
			yield(nil, &llm.Error{Kind: llm.KindServer, Message: "Comparing meanings failed.", Err: err})
			return
		}
		calls, text := next.steps, next.text
		done := llm.Done{Finish: llm.FinishStop, Found: next.found}
		if len(calls) > 0 {
			done.Finish = llm.FinishCalls
			if !yield(llm.Reasoning(why(t, calls)), nil) {
				return
			}
		}
		for i, c := range calls {
			if !yield(llm.Call{
				ID: fmt.Sprintf("offline_%d_%d", len(req.Messages), i), Name: c.tool, Arguments: c.arguments(),
			}, nil) {
				return
			}
		}
		for i, piece := range strings.Split(text, quoteMark) {
			if i%2 == 1 {
				if stopped() || !yield(quotedBy(piece), nil) {
					return
				}
				continue
			}
			for _, piece := range pieces(piece) {
				if stopped() || !yield(llm.Text(piece), nil) {
					return
				}
			}
		}
		yield(done, nil)
	}
}

// step is a tool call that the rules decided on.
type step struct {
	tool  string
	input map[string]any
}

func (s step) arguments() json.RawMessage {
	raw, err := json.Marshal(s.input)
	if err != nil {
		return json.RawMessage("{}") // not reached: inputs are strings and maps of strings
	}
	return raw
}

// pieceBytes is the approximate size of a chunk of text.
const pieceBytes = 24

// pieces splits a text before spaces, so that it is streamed like that of other models. There is no delay between
// chunks.
func pieces(text string) []string {
	var out []string
	for len(text) > 0 {
		end := len(text)
		if end > pieceBytes {
			if i := strings.IndexAny(text[pieceBytes:], " \n"); i >= 0 {
				end = pieceBytes + i
			} else if end > 4*pieceBytes { // a script without spaces
				for end = pieceBytes; !utf8.RuneStart(text[end]); {
					end++
				}
			}
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}
