package textcalls

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/lazy"
)

// reply converts a reply with calls as text to one with calls. Text passes the thinkingFilter, then the callBuffer,
// and endReply handles the text that is held at the end. It belongs to the goroutine that reads the stream.
type reply struct {
	req       llm.Request
	yield     func(llm.Part, error) bool
	plain     bool // its text contains no calls
	json      bool // the prompt requested calls as JSON, so the answer may be JSON, too
	thinking  thinkingFilter
	heldCalls callBuffer
	shown     bool // text was yielded
	cited     bool // the text has a footnote: it is an answer
	yielded   bool
	stopped   bool
	calls     int
	refused   bool // a call came although the reply must be text

	unopened *atomic.Bool // shared with Model: see Model.unopened
}

// yieldPart yields a part, unless the consumer has stopped.
func (r *reply) yieldPart(p llm.Part) {
	if r.stopped {
		return
	}
	r.yielded = true
	r.stopped = !r.yield(p, nil)
}

// yieldThought yields the text as a thought, without call marks. It skips empty text.
func (r *reply) yieldThought(text string) {
	if text = withoutMarkup(text); text != "" {
		r.yieldPart(llm.Reasoning(text))
	}
}

// showText yields text and records whether it has a footnote: then it is an answer that may quote a call.
func (r *reply) showText(text string) {
	if text != "" {
		r.shown = true
		r.cited = r.cited || strings.Contains(text, "[") && footnote().MatchString(text)
		r.yieldPart(llm.Text(text))
	}
}

// failReply ends the reply with an error, if there is one. If all text was held, it clears Shown, so that the
// request can be retried.
func (r *reply) failReply(err error) {
	if err == nil || r.stopped {
		return
	}
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Shown && !r.shown {
		hidden := *e
		hidden.Shown = false
		err = &hidden
	}
	r.yield(nil, err)
}

// takeParts passes a reply's parts on. Before its end, after is called with whether it had calls. An error is
// returned, not yielded, since the caller may retry with another request. A native call is dropped if the reply must
// be text, and a reply with nothing else is an error.
func (r *reply) takeParts(parts iter.Seq2[llm.Part, error], after func(called bool)) error {
	for part, err := range parts {
		if err != nil {
			return err
		}
		switch p := part.(type) {
		case llm.Text:
			if r.thinking.passesThrough(string(p)) {
				r.writeText(string(p))
			} else {
				r.handleParts(r.thinking.takePiece(string(p), false))
			}
		case llm.Call:
			r.handleParts(r.thinking.takePiece("", true))
			if r.req.NoTools && !r.plain {
				r.refused = true
				r.yieldPart(llm.DroppedCall(p))
				continue
			}
			r.calls++
			r.yieldPart(p)
		case llm.Done:
			r.handleParts(r.thinking.takePiece("", true))
			r.unopened.Store(r.thinking.learnt)
			if err := r.endReply(&p); err != nil {
				return err
			}
			if r.refused && !r.shown {
				return &llm.Error{
					Kind: llm.KindEmpty, Message: "The model sent an empty reply. Ask again, or use another model.",
					Usage: p.Usage,
				}
			}
			if r.refused && p.Finish == llm.FinishCalls {
				p.Finish = llm.FinishStop
			}
			if after != nil {
				after(r.calls > 0)
			}
			r.yieldPart(p)
		default:
			r.yieldPart(p)
		}
		if r.stopped {
			return nil
		}
	}
	return nil
}

// handleParts passes the filter's parts on. If all text so far turns out to be a thought without an opening tag
// (llm.Rethought), the reply starts again after it.
func (r *reply) handleParts(parts []llm.Part) {
	for _, part := range parts {
		switch p := part.(type) {
		case llm.Text:
			r.writeText(string(p))
		case llm.Rethought:
			if held := r.heldCalls.heldRest(); held != "" {
				r.yieldPart(llm.Text(held)) // it is part of the thought
			}
			r.heldCalls, r.shown, r.cited = newCallBuffer(r.req.Tools), false, false
			r.yieldPart(p)
		default:
			r.yieldPart(p)
		}
	}
}

// writeText shows text through the callBuffer. With Native, text is shown unchanged.
func (r *reply) writeText(text string) {
	if !r.plain {
		text = r.heldCalls.takePiece(text)
	}
	r.showText(text)
}

// endReply handles the held text. It checks in this order: an answer in JSON, an answer that quotes a call, a call
// in a reply that must be text, calls, an unparseable call, an answer. An unparseable call is a failed reply and
// dropped. A reply that was cut off at its token limit has only malformed calls, since the last one may lack a
// required argument.
func (r *reply) endReply(done *llm.Done) error {
	held := r.heldCalls.heldRest()
	if held == "" {
		return nil
	}
	calls, rest := Calls(held, r.req.Tools)
	marked := isMarked(held)
	if r.showAnswer(held, len(calls)) {
		return nil
	}
	if quoted := held[0] == '`' || r.heldCalls.midway; quoted && !(r.json && !r.shown) && (r.cited || len(calls) == 0) {
		r.showText(held) // an answer that quotes a call
		return nil
	}
	switch {
	case r.req.NoTools && (len(calls) > 0 || marked):
		r.showText(withoutMarkup(rest))
		for _, call := range calls {
			r.yieldPart(llm.DroppedCall(call))
		}
		if !r.shown {
			return &llm.Error{
				Kind: llm.KindEmpty, Message: "The model sent an empty reply. Ask again, or use another model.",
				Usage: done.Usage,
			}
		}
		return nil
	case len(calls) > 0:
		r.showText(rest)
		for i, call := range calls {
			if i >= maxCalls {
				r.yieldPart(llm.DroppedCall(call))
				continue
			}
			call.ID = fmt.Sprintf("written_%d_%d", len(r.req.Messages), i)
			if r.json {
				call.ID = agreed + call.ID
			}
			if done.Finish == llm.FinishLength {
				call.Malformed = "the reply was cut off at its token limit before the call was complete"
			}
			r.calls++
			r.yieldPart(call)
		}
		if done.Finish != llm.FinishLength {
			done.Finish = llm.FinishCalls
		}
		return nil
	}
	dropped := llm.Dropped{Text: held, Message: "Removed an unreadable call"}
	if r.calls == 0 &&
		(marked || r.json && strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(held, "```json"), "` \n"), "{")) {
		// harmony (gpt-oss) from a server without a parser for it: the text before the final channel is a thought
		if before, after, ok := strings.Cut(held, "<|channel|>final"); ok && withoutMarkup(after) != "" {
			r.yieldThought(before)
			r.showText(withoutMarkup(after))
			return nil
		}
		r.yieldPart(dropped)
		return &llm.Error{
			Kind: llm.KindBadCall, Shown: r.shown, Message: "The model wrote a tool call that could not be read.",
			Err: errors.New(clipText(held)), Usage: done.Usage,
		}
	}
	if marked {
		r.yieldPart(dropped)
	} else {
		r.showText(held)
	}
	return nil
}

// footnote matches the start of a footnote marker, in the reply's own form or Markdown's.
var footnote = lazy.Regexp(`\[\^?\d`)

// clipText truncates a text to 300 runes for the log: enough to see the form of a call, and little of its content.
// Invalid UTF-8 is removed.
func clipText(text string) string {
	runes := []rune(strings.ToValidUTF8(text, ""))
	return string(runes[:min(len(runes), 300)])
}
