package textcalls

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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

// afterReply returns what is called with the calls of a whole reply. A model that never called a tool and does not here
// either is asked to call one: if it does not, its next turns are given tools in the prompt.
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

// CallsTools reports whether the model, the way it is used now, calls a tool that it is told to call. Unlike probeCalls
// it goes through Stream, so a call written as text counts; footnote doctor asks it.
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

// probeTokens is how long the reply to a probe may be: three times what the call takes. One that is cut there says
// nothing: the model may have thought.
const probeTokens = 64

// probeRequest is a request that is to be answered by a call. The temperature is 0, where a model allows one, so that a
// model's verdict does not change by chance.
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

// How long a model that seemed to have no tool calls of its own is believed to have none. Each time it is found so
// again the time doubles. A verdict may be wrong since a server was restarted with another template or the model chose
// to answer; a wrong one costs a worse way of calling tools, and a trial one short request: hence minutes, then hours.
const (
	firstBelief   = 5 * time.Minute
	longestBelief = 2 * time.Hour
)

// agreed begins the ids of calls that a model made by JSON because its tools were described to it. The id is in the
// run's log, so that a run goes on in the same way on another machine.
const agreed = "json_"

// verdict is what is known of a model's own tool calls. The zero value is nothing. It is safe for concurrent use.
type verdict struct {
	mu     sync.Mutex
	proven bool          // the model has called a tool by itself
	none   bool          // it seemed to have no tool calls
	until  time.Time     // when to ask again whether that is so
	belief time.Duration // from the last time it seemed so until then
}

// inFavour notes that the model called a tool by itself.
func (v *verdict) inFavour() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.proven, v.none, v.belief = true, false, 0
}

// countAgainst notes that the model seems to have no tool calls. Each time in a row it is believed twice as long.
func (v *verdict) countAgainst() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.belief = min(max(2*v.belief, firstBelief), longestBelief)
	v.proven, v.none, v.until = false, true, time.Now().Add(v.belief)
}

// noteRefusal notes that a server refused tools. Of a model that has called tools one refusal is not believed: the next
// one is, unless the model calls a tool in between.
func (v *verdict) noteRefusal() {
	v.mu.Lock()
	proven := v.proven
	v.proven = false
	v.mu.Unlock()
	if !proven {
		v.countAgainst()
	}
}

// isProven reports whether the model has called a tool by itself.
func (v *verdict) isProven() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.proven
}

// isAgainst tells Model.Way and shouldDescribe whether the model seems to have no tool calls.
func (v *verdict) isAgainst() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.none
}

// isDue reports whether a verdict against the model is to be tried again. It says so to one caller only, who asks the
// model.
func (v *verdict) isDue() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.none || time.Now().Before(v.until) {
		return false
	}
	v.until = time.Now().Add(v.belief)
	return true
}

// shouldDescribe reports whether a request's tools are described in the prompt. A run whose model made calls by JSON
// goes on so. Before that, a model that seemed to have no tool calls is asked for one again, once that was long enough
// ago.
func (m *Model) shouldDescribe(ctx context.Context, req llm.Request) bool {
	if m.way == JSON {
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
