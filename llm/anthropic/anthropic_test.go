package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"footnote/e2e/scripted"
	"footnote/llm"
)

// played is what a consumer gets from a stream.
type played struct {
	Text, Reasoning, Signature string
	Calls                      []llm.Call
	Finish                     llm.Finish
	Usage                      *llm.Usage
	Err                        llm.ErrorKind
}

func newModel(t *testing.T, c Config) *Model {
	t.Helper()
	c.Model, c.Log = "claude", slog.New(slog.DiscardHandler)
	if c.APIKey == "" {
		c.APIKey = "sk-ant"
	}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func hear(t *testing.T, m *Model, req llm.Request) (got played, failed *llm.Error) {
	t.Helper()
	for part, err := range m.Stream(t.Context(), req) {
		if err != nil {
			failed, _ = errors.AsType[*llm.Error](err)
			got.Err = failed.Kind
			continue
		}
		switch p := part.(type) {
		case llm.Text:
			got.Text += string(p)
		case llm.Reasoning:
			got.Reasoning += string(p)
		case llm.Signature:
			got.Signature = string(p)
		case llm.Call:
			got.Calls = append(got.Calls, p)
		case llm.Done:
			got.Finish, got.Usage = p.Finish, p.Usage
		case llm.Notice:
		}
	}
	return got, failed
}

var hello = llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}}}

func serve(t *testing.T, c Config, replies ...scripted.Reply) (*Model, *scripted.Server) {
	t.Helper()
	server := scripted.NewServer(scripted.Config{Record: 100, Script: func(r scripted.Request) scripted.Reply { return replies[min(r.N, len(replies)-1)] }})
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	c.BaseURL = web.URL
	return newModel(t, c), server
}

func TestStreamsARealReply(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, Config{Thinking: 2048}, scripted.Reply{Reasoning: "hm", Text: "The roof is “fine”.", Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{"q":"u"}`)}}})
	got, _ := hear(t, m, hello)
	want := played{Text: "The roof is “fine”.", Reasoning: "hm", Signature: `[{"thinking":"hm","signature":"signed-hm"}]`,
		Calls: []llm.Call{{ID: "c", Name: "x", Arguments: json.RawMessage(`{"q":"u"}`)}}, Finish: llm.FinishCalls, Usage: &llm.Usage{In: 100, Out: 24}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAModelThatTakesNoTemperatureIsAskedWithout(t *testing.T) {
	t.Parallel()
	refusal := scripted.Reply{Fault: scripted.Fault{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"temperature is deprecated for this model"}}`}}
	m, server := serve(t, Config{}, refusal, scripted.Reply{Text: "ok"}, scripted.Reply{Text: "again"})
	temperature := 0.1
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Roof?"}}, Temperature: &temperature}
	for _, want := range []string{"ok", "again"} {
		if got, failed := hear(t, m, req); failed != nil || got.Text != want {
			t.Errorf("heard %+v, %v; want %q", got, failed, want)
		}
	}
	if seen := server.Requests(); len(seen) != 3 || seen[0].Temperature == nil || seen[1].Temperature != nil || seen[2].Temperature != nil {
		t.Errorf("%d requests: %+v, want 3", len(seen), seen)
	}
}

// The request holds everything, results and what is said with them are one message, and thinking goes back with its signature.
func TestSendsTheWholeRequest(t *testing.T) {
	t.Parallel()
	m, server := serve(t, Config{Thinking: 2048}, scripted.Reply{Text: "ok"})
	temperature := 1.5
	call := llm.Call{ID: "c", Name: "search", Arguments: json.RawMessage(`{"query":"roof"}`)}
	req := llm.Request{
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Text: "Be brief."}, {Role: llm.RoleUser, Text: "Roof?"},
			{Role: llm.RoleAssistant, Text: "I look.", Calls: []llm.Call{call}, Reasoning: "hm", Signature: `[{"thinking":"hm","signature":"s"}]`},
			{Role: llm.RoleTool, CallID: "c", Text: `{"documents":[]}`}, {Role: llm.RoleUser, Text: "Go on.", Aside: true},
		},
		Tools:   []llm.ToolSpec{{Name: "search", Description: "Search.", Schema: json.RawMessage(`{"properties":{"query":{"type":"string"}},"type":"object","required":["query"]}`)}},
		NoTools: true, Temperature: &temperature, MaxTokens: 99,
	}
	_, _ = hear(t, m, req)
	seen := server.Requests()[0].Request
	want := req
	want.Messages = append([]llm.Message{}, req.Messages...)
	want.Messages[2].Signature, want.Messages[4].Aside = "s", false
	want.MaxTokens, want.Temperature = 99+2048, nil // thinking goes without a temperature
	want.Tools, seen.Tools = nil, nil
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
	req.Messages[2].Signature = "" // a history from before a restart: no thinking in this turn
	_, _ = hear(t, m, req)
	if seen := server.Requests()[1].Request; seen.MaxTokens != 99 || seen.Temperature == nil || *seen.Temperature != 1 {
		t.Errorf("without a signature: %+v, want MaxTokens 99", seen)
	}
	if tools := server.Requests()[0].Tools; len(tools) != 1 || !strings.Contains(string(tools[0].Schema), `"required":["query"]`) || !strings.Contains(string(tools[0].Schema), `"type":"object"`) {
		t.Errorf("tools %+v, want 1 tool", tools)
	}
}

func TestWhatTheProviderDoesNotTakeIsSaid(t *testing.T) {
	t.Parallel()
	seed, warm, mild := int64(7), 1.5, 0.5
	for _, tt := range []struct {
		name     string
		thinking int
		req      llm.Request
		want     []llm.Notice
	}{
		{"nothing asked for", 0, hello, nil},
		{"a temperature that it takes", 0, llm.Request{Messages: hello.Messages, Temperature: &mild}, nil},
		{"a seed", 0, llm.Request{Messages: hello.Messages, Seed: &seed}, []llm.Notice{"claude takes no seed: the same seed does not give the same answer with it"}},
		{"a high temperature", 0, llm.Request{Messages: hello.Messages, Temperature: &warm}, []llm.Notice{"claude takes a temperature of 1 at most: it got 1"}},
		{"a temperature while it thinks", 2048, llm.Request{Messages: hello.Messages, Temperature: &mild},
			[]llm.Notice{"claude thinks before it answers, and then takes no temperature: it was left out"}},
	} {
		m, _ := serve(t, Config{Thinking: tt.thinking}, scripted.Reply{Text: "ok"})
		var said []llm.Notice
		for part, err := range m.Stream(t.Context(), tt.req) {
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := part.(llm.Notice); ok {
				said = append(said, n)
			}
		}
		if diff := cmp.Diff(tt.want, said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// wire is a transport that answers with bytes.
type wire struct {
	body string
	kind string
	wrap func(io.Reader) io.Reader
	end  error
}

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body io.Reader = strings.NewReader(w.body)
	if w.end != nil {
		body = io.MultiReader(body, iotest.ErrReader(w.end))
	}
	kind := w.kind
	if kind == "" {
		kind = "text/event-stream"
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(w.wrap(body)), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}, nil
}

func events(list ...string) string {
	var b strings.Builder
	for _, data := range list {
		var head struct{ Type string }
		_ = json.Unmarshal([]byte(data), &head)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", head.Type, data)
	}
	return b.String()
}

const (
	start   = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}`
	textOn  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	hel     = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`
	lo      = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"lo"}}`
	off     = `{"type":"content_block_stop","index":0}`
	turnEnd = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`
	stop    = `{"type":"message_stop"}`
)

func TestStreamFaults(t *testing.T) {
	t.Parallel()
	usage := &llm.Usage{In: 5, Out: 7}
	whole := played{Text: "Hello", Finish: llm.FinishStop, Usage: usage}
	tool := func(stopReason, arguments string) string {
		piece, _ := json.Marshal(arguments)
		return events(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"x","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+string(piece)+`}}`, off,
			strings.Replace(turnEnd, "end_turn", stopReason, 1), stop)
	}
	for _, tt := range []struct {
		name string
		wire wire
		req  llm.Request
		want played
	}{
		{"a whole reply", wire{body: events(start, textOn, hel, lo, off, turnEnd, stop)}, hello, whole},
		{"comments and pings", wire{body: ": hi\n\n" + events(start, `{"type":"ping"}`, textOn, hel, lo, off, turnEnd, stop)}, hello, whole},
		{"the end without its mark", wire{body: events(start, textOn, hel, lo, off, turnEnd)}, hello, whole},
		{"an early end", wire{body: events(start, textOn, hel)}, hello, played{Text: "Hel", Err: llm.KindIncomplete}},
		{"an end inside an event", wire{body: events(start, textOn, hel) + "event: message_delta\ndata: {\"type\":\"mess"}, hello, played{Text: "Hel", Err: llm.KindIncomplete}},
		{"a broken connection", wire{body: events(start, textOn, hel), end: io.ErrUnexpectedEOF}, hello, played{Text: "Hel", Err: llm.KindIncomplete}},
		{"an error in the stream", wire{body: events(start, textOn, hel) + events(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, hello, played{Text: "Hel", Err: llm.KindServer}},
		{"a spent limit in the stream", wire{body: events(start, textOn, hel) + events(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`)}, hello, played{Text: "Hel", Err: llm.KindRateLimited}},
		{"an empty reply", wire{body: events(start, turnEnd, stop)}, hello, played{Err: llm.KindEmpty}},
		{"nothing", wire{body: ""}, hello, played{Err: llm.KindIncomplete}},
		{"a page", wire{body: "<html>", kind: "text/html"}, hello, played{Err: llm.KindProtocol}},
		{"an error as JSON", wire{body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`, kind: "application/json"}, hello, played{Err: llm.KindTooLong}},
		{"a call", wire{body: tool("tool_use", `{"q":1}`)}, hello, played{Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{"q":1}`)}}, Finish: llm.FinishCalls, Usage: usage}},
		{"a call without arguments", wire{body: tool("tool_use", "")}, hello, played{Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{}`)}}, Finish: llm.FinishCalls, Usage: usage}},
		{"a cut call", wire{body: tool("max_tokens", `{"q":1}`)}, hello, played{Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{"q":1}`), Malformed: "the reply was cut off at its token limit before the call was complete"}}, Finish: llm.FinishLength, Usage: usage}},
		{"malformed arguments", wire{body: tool("tool_use", `{"q":`)}, hello, played{Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{}`), Malformed: "the arguments are not valid JSON (unexpected end of JSON input): {\"q\":"}}, Finish: llm.FinishCalls, Usage: usage}},
		{"a refusal", wire{body: strings.Replace(events(start, textOn, hel, off, turnEnd, stop), "end_turn", "refusal", 1)}, hello, played{Text: "Hel", Finish: llm.FinishRefusal, Usage: usage}},
		{"a piece of nothing", wire{body: events(start, hel)}, hello, played{Err: llm.KindProtocol}},
	} {
		for way, wrap := range map[string]func(io.Reader) io.Reader{"whole": func(r io.Reader) io.Reader { return r }, "a byte at a time": iotest.OneByteReader} {
			tt.wire.wrap = wrap
			m := newModel(t, Config{HTTPClient: &http.Client{Transport: tt.wire}, RetryFor: time.Millisecond})
			got, failed := hear(t, m, tt.req)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s (%v) (-want +got):\n%s", tt.name, way, failed, diff)
			}
			if failed != nil && failed.Shown != (got.Text != "") {
				t.Errorf("%s: Shown = %v", tt.name, failed.Shown)
			}
		}
	}
}

func TestFailuresHaveTheirKind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault scripted.Fault
		want  llm.ErrorKind
		tries int
	}{
		{scripted.Fault{Status: 401, Body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-ant"}}`}, llm.KindAuth, 1},
		{scripted.Fault{Status: 429, RetryAfter: "30"}, llm.KindRateLimited, 1},
		{scripted.Fault{Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, llm.KindServer, 3},
		{scripted.Fault{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`}, llm.KindTooLong, 1},
		{scripted.Fault{Status: 404}, llm.KindInvalid, 1},
		{scripted.Fault{CutAfter: -1}, llm.KindUnreachable, 3},
	} {
		m, server := serve(t, Config{}, scripted.Reply{Text: "x", Fault: tt.fault})
		_, failed := hear(t, m, hello)
		if failed == nil || failed.Kind != tt.want || server.Count() != tt.tries || strings.Contains(failed.Error(), "sk-ant") {
			t.Errorf("%+v is %v after %d tries; want Kind %v, %d, no %q in it",
				tt.fault, failed, server.Count(), tt.want, tt.tries, "sk-ant")
		}
		if tt.want == llm.KindRateLimited && failed.RetryAfter != 30*time.Second {
			t.Errorf("RetryAfter = %v", failed.RetryAfter)
		}
		if tt.want == llm.KindAuth && !strings.Contains(failed.Message, "ANTHROPIC_API_KEY") {
			t.Errorf("message %q", failed.Message)
		}
	}
}

func TestSilenceEndsInATimeout(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, Config{FirstToken: time.Minute, Idle: 50 * time.Millisecond, RetryFor: time.Millisecond}, scripted.Reply{Text: "one two three", Fault: scripted.Fault{StallAfter: 4}})
	if got, failed := hear(t, m, hello); got.Err != llm.KindTimeout || !failed.Shown {
		t.Errorf("got %+v, %v; want Err %v and Shown true", got, failed, llm.KindTimeout)
	}
}

func TestTheProbeFindsToolCalls(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, Config{}, scripted.Reply{Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query":"roof"}`)}}})
	if h := m.Probe(t.Context()); !h.Tools || h.Err != nil {
		t.Errorf("%+v, want Tools true", h)
	}
}

func TestReachSaysWhetherTheServerTakesTheKey(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/v1/models" || r.Header.Get("X-Api-Key") != "sk-ant" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"data":[{"type":"model","id":"claude","display_name":"C","created_at":"2026-01-01T00:00:00Z"}],"has_more":false}`)
	}))
	t.Cleanup(server.Close)
	right := newModel(t, Config{BaseURL: server.URL})
	for range 3 {
		if err := right.Reach(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if asked != 1 {
		t.Errorf("the server was asked %d times, want 1", asked)
	}
	if err := newModel(t, Config{BaseURL: server.URL, APIKey: "wrong"}).Reach(t.Context()); llm.KindOf(err) != llm.KindAuth {
		t.Errorf("a wrong key: %v", err)
	}
	if err := newModel(t, Config{BaseURL: "http://127.0.0.1:1"}).Reach(t.Context()); llm.KindOf(err) != llm.KindUnreachable {
		t.Errorf("no server: %v", err)
	}
}
