//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// A point is a moment of a run at which a fault can be injected. The names are those in docs/reliability.md and in
// the rows.
type point string

const (
	atFirstTurn  point = "first turn"    // the model gets its first request
	atToolTurn   point = "tool turn"     // the model is about to call the tools
	atTool       point = "during a tool" // the tool has had its effect and not responded yet
	atSearch     point = "during a search"
	atAnswerTurn point = "answer turn"
	inAnswer     point = "during the answer" // a part of it was streamed
	midAnswer    point = "in the middle of the answer"
	lateAnswer   point = "near the end of the answer"
)

// answerBytes maps each point in the answer to the number of streamed bytes. The whole stream is longer than the
// last. The values are arbitrary, and far enough apart that kills are at different chunks.
var answerBytes = map[point]int{inAnswer: 2_000, midAnswer: 8_000, lateAnswer: 17_000}

// outside is the replicas' other dependencies, on loopback: a model's server, and a tool server whose one tool has
// a counted side effect.
//
// One server on one port is both. The replicas' model uses it through links, and the tool directly, since its
// effects must be counted during link faults. mu guards the fields below it for concurrent requests.
type outside struct {
	addr  string
	web   *http.Server
	model *scripted.Server

	mu      sync.Mutex
	effects map[string]int              // of the tool, by the run's key
	armed   map[string]map[point]func() // by the run's key, each called once
	faults  []string                    // requests that a provider would refuse
}

// keyed matches the key of a run in its question.
var keyed = regexp.MustCompile(`run-[0-9a-z]+-[0-9]+`)

// startOutside serves until close. The model has a delay of 1 ms between chunks, so that a fault can be injected in
// the middle of a reply.
func startOutside(ctx context.Context) (*outside, error) {
	o := &outside{effects: map[string]int{}, armed: map[string]map[point]func(){}}
	o.model = scripted.NewServer(scripted.Config{Script: o.replyTo, Delay: time.Millisecond})
	tools := sdk.NewServer(&sdk.Implementation{Name: "ledger", Version: "1"}, nil)
	sdk.AddTool(tools, &sdk.Tool{Name: "enter", Description: "Enters a line in the ledger."}, o.handleCall)
	mux := http.NewServeMux()
	mux.Handle("/mcp", sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return tools }, &sdk.StreamableHTTPOptions{Stateless: true},
	))
	mux.HandleFunc("/", o.serveModel)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o.addr, o.web = listener.Addr().String(), &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := o.web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			panic(err) // unrecoverable
		}
	}()
	return o, nil
}

// toolInput is the tool's argument: the key of the run that calls it.
type toolInput struct {
	Key string `json:"key"`
}

// handleCall is the tool. Its effect is counted before the response: if the replica or the link fails now, only this
// server knows about it. A retry without a response would make it two.
func (o *outside) handleCall(
	_ context.Context, _ *sdk.CallToolRequest, in toolInput,
) (*sdk.CallToolResult, any, error) {
	o.mu.Lock()
	o.effects[in.Key]++
	o.mu.Unlock()
	o.runPoint(in.Key, atTool)
	time.Sleep(30 * time.Millisecond) // the response is delayed
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Entered " + in.Key}}}, nil, nil
}

// countEffects returns the number of the tool's effects for a run.
func (o *outside) countEffects(key string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.effects[key]
}

// armPoint calls act once, when the run reaches the point. The request that reaches it calls act and waits for it.
// A second act for the same point replaces the first.
func (o *outside) armPoint(key string, p point, act func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.armed[key] == nil {
		o.armed[key] = map[point]func(){}
	}
	o.armed[key][p] = act
}

// runPoint runs the act of a point, once, outside the lock.
func (o *outside) runPoint(key string, p point) {
	o.mu.Lock()
	act := o.armed[key][p]
	delete(o.armed[key], p)
	o.mu.Unlock()
	if act != nil {
		act()
	}
}

// replyTo is a model that searches, calls the counted tool with another search, and streams a long answer with
// footnotes.
//
// It depends only on the history, and is stateless: a run that another replica takes over gets the next turn. The
// first turn has two searches, the second a call of the counted tool and a search. The third is the answer,
// repeated five times to be long enough for an interruption. Without tools it answers at once.
func (o *outside) replyTo(r scripted.Request) scripted.Reply {
	key := keyed.FindString(r.Question())
	call := func(name string, args any) llm.Call {
		raw, _ := json.Marshal(args) // encoding strings can't fail
		return llm.Call{Name: name, Arguments: raw}
	}
	search := func(query string) llm.Call { return call("search_documents", map[string]string{"query": query}) }
	turn := r.Turn()
	if r.NoTools && turn < 2 {
		turn = 2
	}
	switch turn {
	case 0:
		o.runPoint(key, atFirstTurn)
		return scripted.Reply{Calls: []llm.Call{search("roof condition " + key), search("rent of the mill")}}
	case 1:
		o.runPoint(key, atToolTurn)
		return scripted.Reply{Calls: []llm.Call{call("ledger__enter", toolInput{key}), search("gutter damp " + key)}}
	}
	o.runPoint(key, atAnswerTurn)
	read := llm.Request{Messages: r.Messages, NoTools: true} // sentences of its results, each with its number
	return scripted.Reply{Text: strings.Repeat(scripted.Librarian(scripted.Request{Request: read}).Text+" ", 5)}
}

// serveModel inspects a request before the scripted model handles it: an embedding is the point atSearch, and a
// chat request is validated and its answer counted.
func (o *outside) serveModel(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20)) // whole, so that net/http notices when the client is killed
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	key := keyed.FindString(string(body))
	if strings.HasSuffix(r.URL.Path, "/embeddings") && key != "" {
		o.runPoint(key, atSearch)
		time.Sleep(20 * time.Millisecond)
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		if err := historyFault(body); err != nil {
			o.mu.Lock()
			o.faults = append(o.faults, err.Error())
			o.mu.Unlock()
		}
		w = &tap{ResponseWriter: w, o: o, key: key}
	}
	o.model.ServeHTTP(w, r)
}

// tap counts the streamed bytes of a reply. It wraps the writer of one response and is used by one request.
type tap struct {
	http.ResponseWriter
	o    *outside
	key  string
	sent int
}

// Write forwards the bytes and runs the act of a point once the stream has reached it.
func (w *tap) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	before := w.sent
	w.sent += n
	for at, bytes := range answerBytes {
		if before < bytes && w.sent >= bytes {
			w.o.runPoint(w.key, at)
		}
	}
	return n, err
}

// Unwrap lets http.ResponseController find Flush.
func (w *tap) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// historyFault returns the reason why a provider would refuse a request, or nil: each call needs exactly one
// result, directly after it.
//
// Such faults are caused by resumed runs: an interrupted call still needs a result, and one that was recorded twice
// must not have two.
func historyFault(body []byte) error {
	var asked struct {
		Messages []struct {
			Role       string `json:"role"`
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, m := range asked.Messages {
		if m.Role == "tool" {
			if !open[m.ToolCallID] {
				return fmt.Errorf("message %d is a result without a call", i)
			}
			delete(open, m.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("calls have no result before message %d", i)
		}
		for _, c := range m.ToolCalls {
			if c.ID == "" || open[c.ID] {
				return fmt.Errorf("message %d has a call with the id %q", i, c.ID)
			}
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return errors.New("calls have no result at the end")
	}
	return nil
}

// close closes the server at once.
func (o *outside) close() {
	_ = o.web.Close() // open streams are cut
}
