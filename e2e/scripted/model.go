// Package scripted contains models with scripted replies: one in the process, and a server for OpenAI's protocol.
// They are used by tests, benchmarks and demos without a key.
//
// It implements two protocols, OpenAI's chat completions and Anthropic's messages, and embeddings. model.go has the
// reply and the model in the process; server.go, wire.go and anthropic.go are the server; librarian.go and asked.go
// are the script of a well-behaved model, and of the faults that a question requests.
//
// It is only for tests: the released program must not import it. It is deterministic, so a test that passes once
// passes again.
package scripted

import (
	"context"
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

// Reply is a model's reply to one request.
//
// The zero value is an empty answer that ends normally. Delay is the time before each chunk; Usage is in tokens.
type Reply struct {
	Reasoning string
	Text      string
	Chunks    []string   // the text in chunks; nil: Text in chunks of about a word
	Calls     []llm.Call // calls without an id get one
	Finish    llm.Finish // empty: tool_calls if there are calls, else stop
	Usage     *llm.Usage // nil: computed from the chunks
	Delay     time.Duration
	Err       error // for a Model: ends the reply after its text; nil is a normal end
	Fault     Fault // for a Server
}

// Script returns the reply to a request. It must be safe for concurrent use. The caller owns the result, and the
// request must not be modified. A script that needs earlier turns reads them from the history, like a model.
type Script func(Request) Reply

// Request is the input of a script. N counts from 0, over all runs of one Model or Server.
type Request struct {
	llm.Request
	Model string // the requested model; empty for an in-process Model
	N     int    // number of earlier requests
}

// Turn returns a request's index in its run: the number of assistant messages after the last question. It is 0 for
// the first request of a run, also in a conversation with earlier questions.
func (r Request) Turn() int {
	n := 0
	for _, msg := range slices.Backward(r.Messages) {
		switch msg.Role {
		case llm.RoleUser:
			return n
		case llm.RoleAssistant:
			n++
		case llm.RoleSystem, llm.RoleTool:
		}
	}
	return n
}

// Question returns the last user message, or "".
func (r Request) Question() string {
	for _, msg := range slices.Backward(r.Messages) {
		if msg.Role == llm.RoleUser {
			return msg.Text
		}
	}
	return ""
}

// Model is a model in the process. It is safe for concurrent use. It records all requests, so it is for tests with
// few requests.
type Model struct {
	script Script
	// mu guards seen.
	mu     sync.Mutex
	seen   []llm.Request
	judge  Judge
	checks []llm.Request
}

// JudgeBy sets the judge for yes-or-no questions, which are otherwise answered with yes. They do not reach the
// script.
func (m *Model) JudgeBy(judge Judge) *Model {
	m.judge = judge
	return m
}

// Checks returns the yes-or-no questions so far.
func (m *Model) Checks() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.checks)
}

// New returns a model that gives the replies in order. After the last one it fails with llm.KindInvalid. The order
// is that of the requests, of any run.
func New(replies ...Reply) *Model {
	return NewScript(func(r Request) Reply {
		if r.N >= len(replies) {
			return Reply{Err: &llm.Error{Kind: llm.KindInvalid, Message: "The script has no further reply."}}
		}
		return replies[r.N]
	})
}

// NewScript returns a model with a script.
func NewScript(script Script) *Model { return &Model{script: script} }

// Name returns "scripted".
func (m *Model) Name() string { return "scripted" }

// Requests returns a copy of the requests so far. Its elements are shared.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.seen)
}

// Stream yields the script's reply. See llm.Model. A cancelled context returns an llm.Error of the kind cancelled.
// Fault is not used here: a Model fails with Err.
func (m *Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		if req.TopLogprobs > 0 {
			m.mu.Lock()
			m.checks = append(m.checks, req)
			m.mu.Unlock()
			word, first := verdict(m.judge.odds(req))
			usage := &llm.Usage{In: 100, Out: 1}
			_ = yield(llm.Text(word), nil) && yield(llm.Done{Finish: llm.FinishLength, Usage: usage, First: first}, nil)
			return
		}
		// The caller may reuse its slice of messages.
		kept := req
		kept.Messages = slices.Clone(req.Messages)
		m.mu.Lock()
		n := len(m.seen)
		m.seen = append(m.seen, kept)
		m.mu.Unlock()
		reply := m.script(Request{Request: req, N: n}).fillReply(n)
		for _, part := range reply.replyParts() {
			if err := waitFor(ctx, reply.Delay); err != nil {
				yield(nil, &llm.Error{Kind: llm.KindCancelled, Message: "The request was canceled.", Err: err})
				return
			}
			if _, last := part.(llm.Done); last && reply.Err != nil {
				yield(nil, reply.Err)
				return
			}
			if !yield(part, nil) {
				return
			}
		}
	}
}

// replyParts returns the reply as a stream's parts, in the order of model servers: thoughts, text, calls, and the
// end with the reason.
func (r Reply) replyParts() []llm.Part {
	var parts []llm.Part
	if r.Reasoning != "" {
		parts = append(parts, llm.Reasoning(r.Reasoning))
	}
	for _, chunk := range r.Chunks {
		parts = append(parts, llm.Text(chunk))
	}
	for _, call := range r.Calls {
		parts = append(parts, call)
	}
	return append(parts, llm.Done{Finish: r.Finish, Usage: r.Usage})
}

// waitFor waits for d, or returns the context's error. It does not wait for a d of 0 or less.
func waitFor(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Judge returns log P(yes) − log P(no) for the prompt of a yes-or-no question (llm.AskYesNo).
type Judge func(prompt string) float64

// sure is the log odds of a model without a Judge, which answers yes to all questions.
const sure = 3

// odds returns the log odds for a request. Control questions (agent/run/check.go) get the right reply.
func (j Judge) odds(req llm.Request) float64 {
	prompt := req.Messages[len(req.Messages)-1].Text
	switch {
	case strings.Contains(prompt, "What does a library card cost?"):
		return -sure
	case j == nil, strings.Contains(prompt, "When is the library open on weekdays?"):
		return sure
	}
	return j(prompt)
}

// verdict returns the reply to a yes-or-no question: its word, and the tokens yes and no with their log
// probabilities.
func verdict(odds float64) (word string, first []llm.Logprob) {
	yes := 1 / (1 + math.Exp(-odds))
	first = []llm.Logprob{{Token: "yes", Logprob: math.Log(yes)}, {Token: "no", Logprob: math.Log(1 - yes)}}
	if odds <= 0 {
		return "no", first
	}
	return "yes", first
}

// writeVerdict streams the reply to a yes-or-no question in OpenAI's protocol.
func writeVerdict(w http.ResponseWriter, odds float64) {
	word, first := verdict(odds)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":%q},"logprobs":{"content":[{"token":%[1]q,`+
		`"logprob":%[2]f,"top_logprobs":[{"token":"yes","logprob":%[2]f},{"token":"no","logprob":%[3]f}]}]},`+
		`"finish_reason":"length"}]}`+"\n\n"+`data: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":1}}`+
		"\n\ndata: [DONE]\n\n", word, first[0].Logprob, first[1].Logprob) // the client has disconnected
}
