package textcalls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"sync/atomic"

	"footnote/llm"
)

// Way says how a model is given its tools.
type Way string

// The ways.
const (
	Auto   Way = "auto"   // its own tool calls, until it turns out that it has none
	Native Way = "native" // its own tool calls, and nothing else
	JSON   Way = "json"   // described in the prompt, called by JSON in the reply
)

// Model is a model that can call tools whatever it is. It is safe for concurrent use, and remembers what it learnt.
type Model struct {
	llm.Model
	way     Way
	verdict verdict

	unopened atomic.Bool // its last reply began with a thought without the tag that opens one
}

// New wraps a model.
func New(inner llm.Model, way Way) *Model {
	return &Model{Model: inner, way: way}
}

// Way is how the model gets its tools at present: Native or JSON.
func (m *Model) Way() Way {
	if m.way == JSON || m.verdict.isAgainst() {
		return JSON
	}
	return Native
}

var refusesTools = regexp.MustCompile(`(?i)tool|function`)

// RefusesTools reports whether a server refused a request because of its tools.
func RefusesTools(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Kind == llm.KindInvalid && !e.Shown && e.Err != nil && refusesTools.MatchString(e.Err.Error())
}

// Stream sends a request. See llm.Model. A Notice says when the way changes.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		r := &reply{
			req: req, yield: yield, unopened: &m.unopened, thinking: thinkingFilter{unopened: m.unopened.Load()},
			heldCalls: newCallBuffer(req.Tools),
		}
		if m.way == Native || len(req.Tools) == 0 && !hasCalls(req.Messages) {
			r.plain = true
			r.failReply(r.takeParts(m.Model.Stream(ctx, req), nil))
			return
		}
		if !m.shouldDescribe(ctx, req) {
			err := r.takeParts(m.Model.Stream(ctx, req), m.afterReply(ctx, r))
			if !RefusesTools(err) || r.yielded || m.way != Auto || len(req.Tools) == 0 {
				r.failReply(err)
				return
			}
			m.verdict.noteRefusal()
			r = &reply{req: req, yield: yield, unopened: &m.unopened, thinking: thinkingFilter{
				unopened: m.unopened.Load(),
			}, heldCalls: newCallBuffer(req.Tools)}
			if !yield(llm.Notice(
				m.Name()+
					" has no tool calls of its own: tools are described in the prompt and called by JSON in the reply",
			), nil) {
				return
			}
		}
		r.json = true
		r.failReply(r.takeParts(m.Model.Stream(ctx, describeTools(req)), nil))
	}
}

// afterReply is called with the calls of a whole reply. A model that never called a tool and does not here either is
// asked to call one: if it does not, its next turns are given tools in the prompt.
func (m *Model) afterReply(ctx context.Context, r *reply) func(called bool) {
	return func(called bool) {
		if called {
			m.verdict.inFavour()
			return
		}
		if m.way != Auto || m.verdict.isProven() || r.req.NoTools || len(r.req.Tools) == 0 || r.stopped {
			return
		}
		if called, known := m.probeCalls(ctx); known && called {
			m.verdict.inFavour()
		} else if known {
			m.verdict.countAgainst()
			r.yieldPart(llm.Notice(m.Name() +
				" ignores tools: from now on they are described in the prompt and called by JSON in the reply"))
		}
	}
}

// probeCalls reports whether the model calls a tool that it is told to call. A request that fails for another reason
// tells nothing: known is false.
func (m *Model) probeCalls(ctx context.Context) (called, known bool) {
	for part, err := range m.Model.Stream(ctx, probeRequest()) {
		if err != nil {
			return false, RefusesTools(err)
		}
		switch p := part.(type) {
		case llm.Call:
			return true, true
		case llm.Done:
			if p.Finish == llm.FinishLength {
				return false, false
			}
		}
	}
	return false, ctx.Err() == nil
}

// CallsTools reports whether the model, the way it is used now, calls a tool that it is told to call.
func (m *Model) CallsTools(ctx context.Context) bool {
	for part, err := range m.Stream(ctx, probeRequest()) {
		if err != nil {
			return false
		}
		if call, ok := part.(llm.Call); ok {
			return call.Malformed == "" && call.Name == "search_documents"
		}
	}
	return false
}

// probeTokens is how long the reply to a probe may be. One that is cut there says nothing: the model may have thought.
const probeTokens = 64

// probeRequest is a request that is to be answered by a call.
func probeRequest() llm.Request {
	return llm.Request{
		Temperature: new(float64), DefaultTemperature: true, MaxTokens: probeTokens,
		Messages: []llm.Message{
			{Role: llm.RoleUser, Text: "Call the tool search_documents with the query \"roof\". Do nothing else."},
		},
		Tools: []llm.ToolSpec{{Name: "search_documents", Description: "Search the documents.",
			Schema: json.RawMessage(
				`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`,
			)}},
	}
}

// hasCalls reports whether a history holds tool calls.
func hasCalls(history []llm.Message) bool {
	for _, msg := range history {
		if len(msg.Calls) > 0 {
			return true
		}
	}
	return false
}

// reply turns a reply with calls as text into one with calls.
type reply struct {
	req       llm.Request
	yield     func(llm.Part, error) bool
	plain     bool // there are no calls in its text
	json      bool // the calls are agreed to be JSON, and so may be the answer
	thinking  thinkingFilter
	heldCalls callBuffer
	shown     bool // text was yielded
	cited     bool // and had a footnote: it is an answer
	yielded   bool
	stopped   bool
	calls     int
	refused   bool // a call came although the reply must be text

	unopened *atomic.Bool // what the model learns of its thoughts
}

// yieldPart hands a part on, unless the consumer has left.
func (r *reply) yieldPart(p llm.Part) {
	if r.stopped {
		return
	}
	r.yielded = true
	r.stopped = !r.yield(p, nil)
}

// showText yields text and notes whether it has a footnote: then it is an answer that may quote a call.
func (r *reply) showText(text string) {
	if text != "" {
		r.shown = true
		r.cited = r.cited || footnote.MatchString(text)
		r.yieldPart(llm.Text(text))
	}
}

// failReply ends the reply with an error, if there is one. What was held back was not shown.
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

// takeParts passes a reply's parts on. Before its end, after hears whether it had calls.
func (r *reply) takeParts(parts iter.Seq2[llm.Part, error], after func(called bool)) error {
	for part, err := range parts {
		if err != nil {
			return err
		}
		switch p := part.(type) {
		case llm.Text:
			if r.thinking.passesThrough(string(p)) {
				r.sayText(string(p))
			} else {
				r.hearParts(r.thinking.takePiece(string(p), false))
			}
		case llm.Call:
			r.hearParts(r.thinking.takePiece("", true))
			if r.req.NoTools && !r.plain {
				r.refused = true
				continue
			}
			r.calls++
			r.yieldPart(p)
		case llm.Done:
			r.hearParts(r.thinking.takePiece("", true))
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

// hearParts takes what the model said and thought.
func (r *reply) hearParts(parts []llm.Part) {
	for _, part := range parts {
		switch p := part.(type) {
		case llm.Text:
			r.sayText(string(p))
		case llm.Rethought:
			if held := r.heldCalls.heldRest(); held != "" {
				r.yieldPart(llm.Text(held)) // it is a part of the thought
			}
			r.heldCalls, r.shown, r.cited = newCallBuffer(r.req.Tools), false, false
			r.yieldPart(p)
		default:
			r.yieldPart(p)
		}
	}
}

// sayText shows what was said, but for what may be a call.
func (r *reply) sayText(text string) {
	if !r.plain {
		text = r.heldCalls.takePiece(text)
	}
	r.showText(text)
}

// endReply decides what the held text is. A text that was meant as a call but can't be read is a failed reply: it is
// never shown.
func (r *reply) endReply(done *llm.Done) error {
	held := r.heldCalls.heldRest()
	if held == "" {
		return nil
	}
	calls, rest := Calls(held, r.req.Tools)
	marked := isMarked(held)
	if text, ok := r.readAnswer(held, len(calls)); ok {
		r.showText(text)
		return nil
	}
	if quoted := held[0] == '`' || r.heldCalls.midway; quoted && !(r.json && !r.shown) && (r.cited || len(calls) == 0) {
		r.showText(held) // an answer that quotes a call
		return nil
	}
	switch {
	case r.req.NoTools && (len(calls) > 0 || marked):
		r.showText(withoutMarkup(rest))
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
	if r.calls == 0 &&
		(marked || r.json && strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(held, "```json"), "` \n"), "{")) {
		if text := harmonyAnswer(held); text != "" {
			r.showText(text)
			return nil
		}
		return &llm.Error{
			Kind: llm.KindBadCall, Shown: r.shown, Message: "The model wrote a tool call that could not be read.",
			Err: errors.New(clipText(held)), Usage: done.Usage,
		}
	}
	if !marked {
		r.showText(held)
	}
	return nil
}

// harmonyAnswer is the text of a final channel.
func harmonyAnswer(text string) string {
	_, after, ok := strings.Cut(text, "<|channel|>final")
	if !ok {
		return ""
	}
	return withoutMarkup(after)
}

var footnote = regexp.MustCompile(`\[\^?\d`)

// clipText is at most 300 runes of a text, for the log.
func clipText(text string) string {
	runes := []rune(strings.ToValidUTF8(text, ""))
	return string(runes[:min(len(runes), 300)])
}
