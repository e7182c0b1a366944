package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

// measureTime is the timeout of a measurement: a model that takes longer is slow.
const measureTime = 60 * time.Second

// listTime is the timeout of a server's list of models.
const listTime = 3 * time.Second

// probeTokens is the token limit of a reply to a probe: enough for a call.
const probeTokens = 64

// Measured holds the measured capabilities of a model.
type Measured struct {
	Context     int     // context length in tokens, for prompt and reply; 0: unknown
	In, Out     float64 // tokens a second; 0: unknown
	CallsTools  bool    // it called the requested tool
	UsesResults bool    // its answer used the tool's result
	TooSlow     bool    // the measurement timed out after a minute
}

// String formats the results for users: "38 tokens/s in, 10 out, a context of 8192 tokens".
func (m Measured) String() string {
	var said []string
	if m.TooSlow {
		said = append(said, "no reply within a minute")
	}
	if m.In > 0 {
		said = append(said, fmt.Sprintf("%.0f tokens/s in, %.0f out", m.In, m.Out))
	}
	if m.Context > 0 {
		said = append(said, fmt.Sprintf("a context of %d tokens", m.Context))
	}
	return strings.Join(said, ", ")
}

// Minimum capabilities for a model that searches by itself: with less, a question with its tools takes minutes, or
// exceeds the context. See docs/decisions/small-models.md, and docs/quality.md, where small models are measured.
const (
	leastSpeed   = 100  // tokens of the prompt a second
	leastContext = 8192 // tokens; the context must be larger
)

// Small returns the reason why a model is small, empty if it is not.
func (m Measured) Small() string {
	switch {
	case m.TooSlow, m.In > 0 && m.In < leastSpeed, m.Context > 0 && m.Context <= leastContext:
		return m.String()
	case !m.CallsTools:
		return "it did not make the requested tool call"
	case !m.UsesResults:
		return "it did not answer with the result of a tool"
	}
	return ""
}

// localServers are the owners of models in the lists of self-hosted servers.
var localServers = []string{"llamacpp", "library"} // llama.cpp's, Ollama

// IsLocal reports whether the server is on this machine or its network and serves models on a user's own hardware.
// It requests the list of models; known is false if the server can't be reached or fails, for example while it loads
// a model. The result decides whether the model is measured, which hosted ones never are. For a public URL it sends
// no request.
func (m *Model) IsLocal(ctx context.Context) (local, known bool) {
	if !m.near {
		return false, true
	}
	ctx, cancel := context.WithTimeout(ctx, listTime) // a question waits for it
	defer cancel()
	list, e := m.listModels(ctx)
	if e != nil {
		return false, e.Status != 0 && !e.Retryable()
	}
	return slices.Contains(localServers, m.servedOf(list).Owner), true
}

var measuredTool = llm.ToolSpec{
	Name: "search_documents", Description: "Search the user's documents. It returns the passages that fit best.",
	Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string",` +
		`"description":"What to search for"}},"required":["query"]}`),
}

// Measure has the model call a tool and use its result, and measures the speed. It sends three short requests
// sequentially. A timeout of measureTime sets TooSlow and is not an error; any other failure is an *llm.Error.
//
// The speed is measured with the second request, which begins with random text to avoid the server's prefix cache.
// The number in the third request is made up, so only a model that reads the result can repeat it.
func (m *Model) Measure(ctx context.Context) (Measured, error) {
	limit, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	found := Measured{Context: m.probeModels(limit).Served.Context}
	// The timeout is a result; the cancellation by the caller is an error.
	slow := func(err error) (Measured, error) {
		if limit.Err() != nil && ctx.Err() == nil {
			found.TooSlow = true
			return found, nil
		}
		return found, err
	}
	// The first request may load the model, so its speed is ignored.
	if _, _, err := m.timeReply(limit, llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}, MaxTokens: 1,
	}); err != nil && llm.KindOf(err) != llm.KindEmpty {
		return slow(err)
	}
	// The random prefix is in no prefix cache.
	history := []llm.Message{
		{Role: llm.RoleSystem, Text: "Conversation " + rand.Text() + ". You answer questions from documents. What " +
			"you do not know, you search for by the tool, and then you answer in one short sentence from what it " +
			"returned. You never guess, and you never answer without a search."},
		{Role: llm.RoleUser, Text: "Search the documents for the number of the key of the boathouse, and tell me the " +
			"number."},
	}
	req := llm.Request{
		Messages: history, Tools: []llm.ToolSpec{measuredTool}, Temperature: new(float64), DefaultTemperature: true,
		MaxTokens: probeTokens,
	}
	calls, took, err := m.timeReply(limit, req)
	if err != nil && llm.KindOf(err) != llm.KindEmpty {
		return slow(err)
	}
	found.In, found.Out = took.in, took.out
	if len(calls.calls) == 0 || calls.calls[0].Malformed != "" || calls.calls[0].Name != measuredTool.Name {
		return found, nil
	}
	found.CallsTools = true
	// The third request continues from the call, as a run would.
	req.Messages = append(history, llm.Message{Role: llm.RoleAssistant, Calls: calls.calls[:1]}, llm.Message{
		Role: llm.RoleTool, CallID: calls.calls[0].ID,
		Text: `{"passages":[{"n":1,"text":"The key of the boathouse has the number 4711."}]}`,
	})
	said, took, err := m.timeReply(limit, req)
	if err != nil && llm.KindOf(err) != llm.KindEmpty {
		return slow(err)
	}
	found.UsesResults = strings.Contains(said.text, "4711")
	if took.out > 0 {
		found.Out = took.out // a call is not streamed
	}
	return found, nil
}

// completeReply is a complete reply.
type completeReply struct {
	text  string
	calls []llm.Call
}

// speed is in tokens a second; 0: unknown. in is the speed of the prompt, until the reply's first chunk; out is that
// of the reply after it.
type speed struct{ in, out float64 }

// timeReply sends a request and measures the speed. The first chunk ends the reading of the prompt; llm.Reading
// parts do not count. One token of the reply is subtracted, which came with that chunk.
func (m *Model) timeReply(ctx context.Context, req llm.Request) (out completeReply, s speed, err error) {
	begun := m.now()
	var first time.Time
	for part, err := range m.Stream(ctx, req) {
		if err != nil {
			return out, s, err
		}
		if _, reading := part.(llm.Reading); first.IsZero() && !reading {
			first = m.now()
		}
		switch p := part.(type) {
		case llm.Text:
			out.text += string(p)
		case llm.Call:
			out.calls = append(out.calls, p)
		case llm.Done:
			if p.Usage != nil {
				s.in = perSecond(p.Usage.In, first.Sub(begun))
				s.out = perSecond(p.Usage.Out-1, m.now().Sub(first))
			}
		}
	}
	return out, s, nil
}

// perSecond returns the speed, or 0 for a duration too short to measure. A server that really reads a prompt takes
// more than 10 ms. It also avoids a division by zero.
func perSecond(tokens int, took time.Duration) float64 {
	if tokens < 1 || took < 10*time.Millisecond {
		return 0
	}
	return float64(tokens) / took.Seconds()
}
