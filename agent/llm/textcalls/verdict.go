package textcalls

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

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
