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

// A point is a moment of a run at which something may happen to it. The names are those in docs/reliability.md and in
// the rows.
type point string

const (
	atFirstTurn  point = "first turn"    // the model was asked what to do first
	atToolTurn   point = "tool turn"     // the model is about to name the tools
	atTool       point = "during a tool" // a tool has had its effect and not answered yet
	atSearch     point = "during a search"
	atAnswerTurn point = "answer turn"
	inAnswer     point = "during the answer" // some of it was sent
	midAnswer    point = "in the middle of the answer"
	lateAnswer   point = "near the end of the answer"
)

// answerBytes says how much of the answer's stream was sent at each point in it. The whole stream is longer than the
// last of them. The sizes are choices, so far apart that kills come at different pieces.
var answerBytes = map[point]int{inAnswer: 2_000, midAnswer: 8_000, lateAnswer: 17_000}

// outside is what replicas talk to beside their stores, on loopback: a model's server, and a server of tools whose
// one tool has an effect that is counted.
//
// One server on one port is both. It is reached through links by the replicas' model, and directly by the tool, whose
// effects must be counted whatever happens to links. Everything below mu may be used by many requests at once.
type outside struct {
	addr  string
	web   *http.Server
	model *scripted.Server

	mu      sync.Mutex
	effects map[string]int              // of the tool, by key of the run
	armed   map[string]map[point]func() // by key of the run, each done once
	faults  []string                    // requests that a provider would refuse
}

// keyed finds the key of a run in its question.
var keyed = regexp.MustCompile(`run-[0-9a-z]+-[0-9]+`)

// startOutside serves until close. The model has 1 ms between the pieces of a reply, so that there is time for
// something to happen in its middle.
func startOutside(ctx context.Context) (*outside, error) {
	o := &outside{effects: map[string]int{}, armed: map[string]map[point]func(){}}
	o.model = scripted.NewServer(scripted.Config{Script: o.replyTo, Delay: time.Millisecond})
	tools := sdk.NewServer(&sdk.Implementation{Name: "ledger", Version: "1"}, nil)
	sdk.AddTool(tools, &sdk.Tool{Name: "enter", Description: "Enters a line in the ledger."}, o.enterLine)
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
			panic(err) // nothing works any more
		}
	}()
	return o, nil
}

// line is the tool's argument: the key of the run that calls it.
type line struct {
	Key string `json:"key"`
}

// enterLine is the tool. Its effect is counted before it answers: if the replica dies now, or the link does, nobody
// but this server knows that it was done. A server that calls it again when the answer did not come would make it two.
func (o *outside) enterLine(_ context.Context, _ *sdk.CallToolRequest, in line) (*sdk.CallToolResult, any, error) {
	o.mu.Lock()
	o.effects[in.Key]++
	o.mu.Unlock()
	o.reachPoint(in.Key, atTool)
	time.Sleep(30 * time.Millisecond) // the answer is on its way
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Entered " + in.Key}}}, nil, nil
}

// countEffects returns how often the tool was used for a run.
func (o *outside) countEffects(key string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.effects[key]
}

// armPoint has act called once, when the run gets to the point. act is called by the request that gets there, which
// waits for it. A second act for the same point takes the place of the first.
func (o *outside) armPoint(key string, p point, act func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.armed[key] == nil {
		o.armed[key] = map[point]func(){}
	}
	o.armed[key][p] = act
}

// reachPoint does what is armed for a point, once, outside the lock.
func (o *outside) reachPoint(key string, p point) {
	o.mu.Lock()
	act := o.armed[key][p]
	delete(o.armed[key], p)
	o.mu.Unlock()
	if act != nil {
		act()
	}
}

// replyTo is a model that searches, enters a line in the ledger while it searches again, and writes a long answer with
// footnotes.
//
// It is a function of the history alone, and keeps nothing: a run that another replica carries on gets the turn that
// comes next. The first turn has two searches, the second a call of the counted tool beside a search, and the third is
// the answer, which is repeated five times to be long enough to be broken off. Without tools it answers at once.
func (o *outside) replyTo(r scripted.Request) scripted.Reply {
	key := keyed.FindString(r.Question())
	call := func(name string, args any) llm.Call {
		raw, _ := json.Marshal(args) // strings can't fail
		return llm.Call{Name: name, Arguments: raw}
	}
	search := func(query string) llm.Call { return call("search_documents", map[string]string{"query": query}) }
	turn := r.Turn()
	if r.NoTools && turn < 2 {
		turn = 2
	}
	switch turn {
	case 0:
		o.reachPoint(key, atFirstTurn)
		return scripted.Reply{Calls: []llm.Call{search("roof condition " + key), search("rent of the mill")}}
	case 1:
		o.reachPoint(key, atToolTurn)
		return scripted.Reply{Calls: []llm.Call{call("ledger__enter", line{key}), search("gutter damp " + key)}}
	}
	o.reachPoint(key, atAnswerTurn)
	read := llm.Request{Messages: r.Messages, NoTools: true} // sentences of what it found, each with its number
	return scripted.Reply{Text: strings.Repeat(scripted.Librarian(scripted.Request{Request: read}).Text+" ", 5)}
}

// serveModel looks at a request before the scripted model answers it: an embedding is the point atSearch, and a chat
// is checked and its answer counted.
func (o *outside) serveModel(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20)) // whole, so that net/http notices when the client is killed
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	key := keyed.FindString(string(body))
	if strings.HasSuffix(r.URL.Path, "/embeddings") && key != "" {
		o.reachPoint(key, atSearch)
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

// tap counts what of a reply was sent. It wraps the writer of one answer and is used by one request.
type tap struct {
	http.ResponseWriter
	o    *outside
	key  string
	sent int
}

// Write passes on and does what is armed once the stream has got that far.
func (w *tap) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	before := w.sent
	w.sent += n
	for at, bytes := range answerBytes {
		if before < bytes && w.sent >= bytes {
			w.o.reachPoint(w.key, at)
		}
	}
	return n, err
}

// Unwrap lets http.ResponseController find Flush.
func (w *tap) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// historyFault says why a provider would refuse a request: each call needs exactly one result, right behind it.
//
// It is nil for a request that is right. Resuming a run is where such faults come from: a call that was cut off still
// needs a result, and one that was recorded twice must not have two.
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

// close ends the server at once.
func (o *outside) close() {
	_ = o.web.Close() // streams that are open are cut
}
