package textcalls

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/text/lazy"
)

// CallMode is the way in which a model gets its tools.
type CallMode string

// The values of Way. Auto works for all models; the others are overrides for models on which it errs.
const (
	Auto   CallMode = "auto"   // native tool calls, until the model turns out to have none
	Native CallMode = "native" // native tool calls only
	JSON   CallMode = "json"   // tools described in the prompt, called as JSON in the reply
)

// Model adds tool calls to any model. It is safe for concurrent use, and remembers whether the model has native tool
// calls.
type Model struct {
	llm.Model
	mode    CallMode
	verdict verdict

	// unopened reports that its last reply began with a thought without the opening tag. Templates of reasoning
	// models write that tag into the prompt, so the next reply will begin the same way.
	unopened atomic.Bool
}

// New wraps a model whose capabilities are unknown.
func New(inner llm.Model, way CallMode) *Model {
	return &Model{Model: inner, mode: way}
}

// Mode returns the current way: Native or JSON. With Auto it changes when a server refuses tools, when a model
// ignores them, or when a retry shows that it has native calls after all.
func (m *Model) Mode() CallMode {
	if m.mode == JSON || m.verdict.isAgainst() {
		return JSON
	}
	return Native
}

// refusesTools matches the error messages with which servers refuse tools. There is no error code for it: Ollama
// returns "does not support tools", vLLM `"auto" tool choice requires …`, others "functions".
var refusesTools = lazy.Regexp(`(?i)tool|function`)

// RefusesTools reports whether a server refused a request because of its tools.
func RefusesTools(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Kind == llm.KindInvalid && !e.Shown && e.Err != nil && refusesTools().MatchString(e.Err.Error())
}

// Stream sends a request. See llm.Model. A Notice reports a change of the way. A request whose tools are refused
// before anything was shown is retried with the tools in the prompt; all other errors are the caller's.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		r := &reply{
			req: req, yield: yield, unopened: &m.unopened, thinking: thinkingFilter{unopened: m.unopened.Load()},
			heldCalls: newCallBuffer(req.Tools),
		}
		if m.mode == Native || len(req.Tools) == 0 && !hasCalls(req.Messages) {
			r.plain = true // thoughts are still separated
			r.failReply(r.takeParts(m.Model.Stream(ctx, req), nil))
			return
		}
		if !m.shouldDescribe(ctx, req) {
			err := r.takeParts(m.Model.Stream(ctx, req), m.afterReply(ctx, r))
			if !RefusesTools(err) || r.yielded || m.mode != Auto || len(req.Tools) == 0 {
				r.failReply(err)
				return
			}
			m.verdict.noteRefusal()
			r = &reply{req: req, yield: yield, unopened: &m.unopened, thinking: thinkingFilter{
				unopened: m.unopened.Load(),
			}, heldCalls: newCallBuffer(req.Tools)}
			if !yield(llm.Notice(
				m.Name()+
					" does not support tool calls: tools are described in the prompt and called by JSON in the reply",
			), nil) {
				return
			}
		}
		r.json = true
		r.failReply(r.takeParts(m.Model.Stream(ctx, describeTools(req)), nil))
	}
}

// hasCalls reports whether a history contains tool calls: such a model may write further ones, even in a request
// without tools.
func hasCalls(history []llm.Message) bool {
	for _, msg := range history {
		if len(msg.Calls) > 0 {
			return true
		}
	}
	return false
}

// afterReply returns the callback for the end of a reply. If a model has never called a tool, including in this
// reply, a probe asks it to call one. If it does not, its next turns get the tools in the prompt.
func (m *Model) afterReply(ctx context.Context, r *reply) func(called bool) {
	return func(called bool) {
		if called {
			m.verdict.inFavour()
			return
		}
		if m.mode != Auto || m.verdict.isProven() || r.req.NoTools || len(r.req.Tools) == 0 || r.stopped {
			return
		}
		if called, known := m.probeCalls(ctx); known && called {
			m.verdict.inFavour()
		} else if known {
			m.verdict.countAgainst()
			r.yieldPart(llm.Notice(m.Name() +
				" ignores tools: they are now described in the prompt and called by JSON in the reply"))
		}
	}
}

// probeCalls sends a probe and reports whether the model calls the tool. known is false if the request fails for
// another reason or is truncated.
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

// CallsTools reports whether the model, in its current way, makes a requested tool call. Unlike probeCalls it uses
// Stream, so a call written as text counts; footnote doctor uses it.
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

// probeTokens is the token limit of the reply to a probe: three times the size of the call. A truncated reply is
// inconclusive, since the model may have been thinking.
const probeTokens = 64

// probeRequest returns a request that should be answered by a call. The temperature is 0, if a model supports it, so
// that the verdict is stable.
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

// The time for which a model is treated as having no native tool calls. It doubles each time this is confirmed. A
// verdict may be outdated after a server's restart with another template, or wrong because the model chose to
// answer. A wrong verdict costs a worse way of calling tools, and a probe one short request: hence minutes, then
// hours.
const (
	firstBelief   = 5 * time.Minute
	longestBelief = 2 * time.Hour
)

// agreed is the prefix of the ids of calls that a model wrote as JSON because its tools were described in the
// prompt. The id is in the run's log, so that a run resumes in the same way on another server.
const agreed = "json_"

// verdict is the cached knowledge of a model's native tool calls. The zero value is unknown. It is safe for
// concurrent use.
type verdict struct {
	mu     sync.Mutex
	proven bool          // the model has called a tool natively
	none   bool          // it appears to have no native tool calls
	until  time.Time     // time of the next probe
	belief time.Duration // current backoff
}

// inFavour records that the model called a tool natively.
func (v *verdict) inFavour() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.proven, v.none, v.belief = true, false, 0
}

// countAgainst records that the model appears to have no native tool calls. The backoff doubles with each
// consecutive call.
func (v *verdict) countAgainst() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.belief = min(max(2*v.belief, firstBelief), longestBelief)
	v.proven, v.none, v.until = false, true, time.Now().Add(v.belief)
}

// noteRefusal records that a server refused tools. For a model that has called tools, only a second refusal without
// a call in between counts.
func (v *verdict) noteRefusal() {
	v.mu.Lock()
	proven := v.proven
	v.proven = false
	v.mu.Unlock()
	if !proven {
		v.countAgainst()
	}
}

// isProven reports whether the model has called a tool natively.
func (v *verdict) isProven() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.proven
}

// isAgainst reports whether the model appears to have no native tool calls.
func (v *verdict) isAgainst() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.none
}

// isDue reports whether a verdict against the model is to be checked by a probe. It returns true to one caller only,
// which then sends the probe.
func (v *verdict) isDue() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.none || time.Now().Before(v.until) {
		return false
	}
	v.until = time.Now().Add(v.belief)
	return true
}

// shouldDescribe reports whether a request's tools are described in the prompt. A run whose model wrote calls as
// JSON continues so. Otherwise a model that appears to have no native tool calls is probed again if that is due.
func (m *Model) shouldDescribe(ctx context.Context, req llm.Request) bool {
	if m.mode == JSON {
		return true
	}
	for _, msg := range slices.Backward(req.Messages) {
		if msg.Role == llm.RoleUser && !msg.Aside {
			break
		}
		if slices.ContainsFunc(msg.Calls, func(c llm.Call) bool { return strings.HasPrefix(c.ID, agreed) }) {
			return true
		}
	}
	if len(req.Tools) > 0 && !req.NoTools && m.verdict.isDue() {
		if called, known := m.probeCalls(ctx); known && called {
			m.verdict.inFavour()
		} else if known {
			m.verdict.countAgainst()
		}
	}
	return m.verdict.isAgainst()
}
