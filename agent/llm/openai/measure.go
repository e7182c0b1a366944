package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

// measureTime is how long a measurement may take: a model that takes longer is slow, whatever else it is.
const measureTime = 60 * time.Second

// listTime is how long a server may take for its list of models.
const listTime = 3 * time.Second

// probeTokens is how long a reply to a probe may be: long enough for a call.
const probeTokens = 64

// Measured is what a model was found to be able to do.
type Measured struct {
	Context     int     // tokens that the server gives it for a prompt and its reply; 0: the server does not say
	In, Out     float64 // tokens a second; 0: not known
	CallsTools  bool    // it called a tool that it was told to call
	UsesResults bool    // and answered with what the tool returned
	TooSlow     bool    // it did not get so far within a minute
}

// String is for people: "38 tokens/s in, 10 out, a context of 8192 tokens".
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

// What a model must be able to do to search by itself: with less, a question with its tools takes minutes, or has no
// room. See docs/decisions/small-models.md, and docs/quality.md, where small models are measured.
const (
	leastSpeed   = 100  // tokens a second that it reads
	leastContext = 8192 // tokens; more than these
)

// Small says in a few words why a model is small; empty: it is not.
func (m Measured) Small() string {
	switch {
	case m.TooSlow, m.In > 0 && m.In < leastSpeed, m.Context > 0 && m.Context <= leastContext:
		return m.String()
	case !m.CallsTools:
		return "it did not call a tool that it was told to call"
	case !m.UsesResults:
		return "it did not answer with what a tool returned"
	}
	return ""
}

// localServers are what the servers that run on a user's own machine call themselves in the list of models.
var localServers = []string{"llamacpp", "library"} // llama.cpp's, Ollama

// IsLocal reports whether the server runs on this machine or in its network, and is one that serves models on a user's
// own hardware. It asks for the list of models; known is false when the server can't be reached or fails, as one that
// still loads a model does. What it finds decides whether measuring is worth a user's time: big servers are never
// measured. An address elsewhere is answered without a request.
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

// isNear reports whether a URL is of this machine or its network, as far as the address tells. A name without a dot is
// one of this machine, of a container network or of a router. No name is looked up.
func isNear(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".internal")
}

var measuredTool = llm.ToolSpec{
	Name: "search_documents", Description: "Search the user's documents. It returns the passages that fit best.",
	Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string",` +
		`"description":"What to search for"}},"required":["query"]}`),
}

// Measure has the model call a tool and use what it returns, and takes the time. The error is an *llm.Error: nothing
// was found out. It sends three short requests, one after the other. A model that takes longer than measureTime is
// TooSlow, not an error. The second request is the one whose speed counts; it begins with random text, as a server that
// has the beginning of a prompt in its cache would seem far too fast. The number in the third is made up: only a model
// that reads the result can say it.
func (m *Model) Measure(ctx context.Context) (Measured, error) {
	limit, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	found := Measured{Context: m.probeModels(limit).Served.Context}
	// The minute that ran out is a finding, the caller's own end is none.
	slow := func(err error) (Measured, error) {
		if limit.Err() != nil && ctx.Err() == nil {
			found.TooSlow = true
			return found, nil
		}
		return found, err
	}
	// The first request may load the model, which says nothing of its speed.
	if _, _, err := m.timeReply(limit, llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}, MaxTokens: 1,
	}); err != nil && llm.KindOf(err) != llm.KindEmpty {
		return slow(err)
	}
	// No prefix cache holds what begins with this.
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
	// The third request goes on from the call, as a run would.
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
		found.Out = took.out // a call comes as a whole
	}
	return found, nil
}

// said is a whole reply.
type said struct {
	text  string
	calls []llm.Call
}

// speed is in tokens a second; 0: not known. in is the prompt's, until the reply's first piece; out is the reply's,
// from then on.
type speed struct{ in, out float64 }

// timeReply sends a request and takes the time. The first piece ends the reading of the prompt; parts that only tell
// how far the reading is do not count. One token is taken off the reply's, which came with that piece.
func (m *Model) timeReply(ctx context.Context, req llm.Request) (out said, s speed, err error) {
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

// perSecond is 0 for what is too short to tell. It also guards the division: 10 ms is less than any server needs that
// really reads.
func perSecond(tokens int, took time.Duration) float64 {
	if tokens < 1 || took < 10*time.Millisecond {
		return 0
	}
	return float64(tokens) / took.Seconds()
}
