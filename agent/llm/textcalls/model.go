package textcalls

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"sync/atomic"

	"github.com/footnote/footnote/agent/llm"
)

// Way says how a model is given its tools.
type Way string

// The ways. Auto is right for all models; the others are for users who know that it errs with theirs.
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

	// unopened says that its last reply began with a thought without the tag that opens one: templates of reasoning
	// models write that tag into the prompt, so the next reply will begin so too.
	unopened atomic.Bool
}

// New wraps a model, of which nothing is known yet.
func New(inner llm.Model, way Way) *Model {
	return &Model{Model: inner, way: way}
}

// Way is how the model gets its tools at present: Native or JSON. With Auto it changes when a server refuses tools, a
// model ignores them, or one that seemed to have none calls one after all.
func (m *Model) Way() Way {
	if m.way == JSON || m.verdict.isAgainst() {
		return JSON
	}
	return Native
}

// refusesTools are the words that servers refuse tools with. There is no code for it: Ollama says "does not support
// tools", vLLM `"auto" tool choice requires …`, others "functions".
var refusesTools = regexp.MustCompile(`(?i)tool|function`)

// RefusesTools reports whether a server refused a request because of its tools.
func RefusesTools(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Kind == llm.KindInvalid && !e.Shown && e.Err != nil && refusesTools.MatchString(e.Err.Error())
}

// Stream sends a request. See llm.Model. A Notice says when the way changes. A request whose tools are refused before
// anything was shown is sent a second time, with the tools in the prompt; all other errors are the caller's.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		r := &reply{
			req: req, yield: yield, unopened: &m.unopened, thinking: thinkingFilter{unopened: m.unopened.Load()},
			heldCalls: newCallBuffer(req.Tools),
		}
		if m.way == Native || len(req.Tools) == 0 && !hasCalls(req.Messages) {
			r.plain = true // thoughts are told apart all the same
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

// hasCalls reports whether a history holds tool calls: a model that made some goes on to, even when it has no tools
// left.
func hasCalls(history []llm.Message) bool {
	for _, msg := range history {
		if len(msg.Calls) > 0 {
			return true
		}
	}
	return false
}
