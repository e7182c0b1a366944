package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// played is the output of a stream for a consumer.
type played struct {
	Text, Reasoning, Signature string
	Dropped                    string
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
		case llm.Dropped:
			got.Dropped += p.Text
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
	server := scripted.NewServer(scripted.Config{
		Record: 100, Script: func(r scripted.Request) scripted.Reply { return replies[min(r.N, len(replies)-1)] },
	})
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	c.BaseURL = web.URL
	return newModel(t, c), server
}

func TestRecordedReplyIsStreamed(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, Config{Thinking: 2048}, scripted.Reply{
		Reasoning: "hm", Text: "The roof is “fine”.", Calls: []llm.Call{
			{ID: "c", Name: "x", Arguments: []byte(`{"q":"u"}`)},
		},
	})
	got, _ := hear(t, m, hello)
	want := played{
		Text: "The roof is “fine”.", Reasoning: "hm", Signature: `[{"thinking":"hm","signature":"signed-hm"}]`,
		Calls: []llm.Call{{ID: "c", Name: "x", Arguments: json.RawMessage(`{"q":"u"}`)}}, Finish: llm.FinishCalls,
		Usage: &llm.Usage{In: 100, Out: 24},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTemperatureIsOmittedIfUnsupported(t *testing.T) {
	t.Parallel()
	refusal := scripted.Reply{
		Fault: scripted.Fault{
			Status: 400,
			Body: `{"type":"error","error":{"type":"invalid_request_error",` +
				`"message":"temperature is deprecated for this model"}}`,
		},
	}
	m, server := serve(t, Config{}, refusal, scripted.Reply{Text: "ok"}, scripted.Reply{Text: "again"})
	temperature := 0.1
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Roof?"}}, Temperature: &temperature}
	for _, want := range []string{"ok", "again"} {
		if got, failed := hear(t, m, req); failed != nil || got.Text != want {
			t.Errorf("heard %+v, %v; want %q", got, failed, want)
		}
	}
	if seen := server.Requests(); len(seen) != 3 || seen[0].Temperature == nil || seen[1].Temperature != nil ||
		seen[2].Temperature != nil {
		t.Errorf("%d requests: %+v, want 3", len(seen), seen)
	}
}

func TestConcurrentRefusedRequestsAreRetried(t *testing.T) {
	t.Parallel()
	const n = 4
	web := httptest.NewServer(scripted.RefuseTogether(scripted.NewServer(scripted.Config{}), n, "temperature",
		`{"type":"error","error":{"type":"invalid_request_error","message":"temperature is deprecated"}}`))
	t.Cleanup(web.Close)
	m := newModel(t, Config{BaseURL: web.URL})
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Roof?"}}, Temperature: new(0.1)}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if got, failed := hear(t, m, req); failed != nil || got.Text == "" {
				t.Errorf("a request that was refused beside others = %+v, %v; want a reply", got, failed)
			}
		})
	}
	wg.Wait()
}

// The request is complete, results and the text with them are one message, and thinking is sent back with its
// signature.
func TestRequestIsComplete(t *testing.T) {
	t.Parallel()
	m, server := serve(t, Config{Thinking: 2048}, scripted.Reply{Text: "ok"})
	temperature := 1.5
	call := llm.Call{ID: "c", Name: "search", Arguments: json.RawMessage(`{"query":"roof"}`)}
	req := llm.Request{
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Text: "Be brief."}, {Role: llm.RoleUser, Text: "Roof?"},
			{Role: llm.RoleAssistant, Text: "I look.", Calls: []llm.Call{call}, Reasoning: "hm",
				Signature: `[{"thinking":"hm","signature":"s"}]`},
			{Role: llm.RoleTool, CallID: "c", Text: `{"documents":[]}`},
			{Role: llm.RoleUser, Text: "Go on.", Aside: true},
		},
		Tools: []llm.ToolSpec{
			{Name: "search", Description: "Search.",
				Schema: json.RawMessage(
					`{"properties":{"query":{"type":"string"}},"type":"object","required":["query"]}`,
				)},
		},
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
	if tools := server.Requests()[0].Tools; len(tools) != 1 ||
		!strings.Contains(string(tools[0].Schema), `"required":["query"]`) ||
		!strings.Contains(string(tools[0].Schema), `"type":"object"`) {
		t.Errorf("tools %+v, want 1 tool", tools)
	}
}

func TestUnsupportedOptionsAreReported(t *testing.T) {
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
		{"a seed", 0, llm.Request{Messages: hello.Messages, Seed: &seed},
			[]llm.Notice{"claude does not support a seed: the seed was ignored"}},
		{"a high temperature", 0, llm.Request{Messages: hello.Messages, Temperature: &warm},
			[]llm.Notice{"claude supports a temperature of at most 1: 1 was used"}},
		{"a temperature while it thinks", 2048, llm.Request{Messages: hello.Messages, Temperature: &mild},
			[]llm.Notice{"claude does not support a temperature with thinking: the temperature was ignored"}},
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

func TestProbeDetectsToolCalls(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, Config{}, scripted.Reply{
		Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query":"roof"}`)}},
	})
	if h := m.Probe(t.Context()); !h.Tools || h.Err != nil {
		t.Errorf("%+v, want Tools true", h)
	}
}

func TestReachChecksKey(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/v1/models" || r.Header.Get("X-Api-Key") != "sk-ant" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(
				w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
			)
			return
		}
		_, _ = io.WriteString(
			w,
			`{"data":[{"type":"model","id":"claude","display_name":"C","created_at":"2026-01-01T00:00:00Z"}],`+
				`"has_more":false}`,
		)
	}))
	t.Cleanup(server.Close)
	right := newModel(t, Config{BaseURL: server.URL})
	for range 3 {
		if err := right.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if asked != 1 {
		t.Errorf("the server was asked %d times, want 1", asked)
	}
	if err := newModel(t, Config{
		BaseURL: server.URL, APIKey: "wrong",
	}).Ping(t.Context()); llm.KindOf(err) != llm.KindAuth {
		t.Errorf("wrong key: got %v, want KindAuth", err)
	}
	if err := newModel(t, Config{
		BaseURL: "http://127.0.0.1:1",
	}).Ping(t.Context()); llm.KindOf(err) != llm.KindUnreachable {
		t.Errorf("no server: got %v, want KindUnreachable", err)
	}
}

// TestNonStreamedReplyIsParsed covers a server that ignores “stream” and responds with one JSON document.
func TestNonStreamedReplyIsParsed(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"m","type":"message","role":"assistant","model":"claude","content":[` +
		`{"type":"thinking","thinking":"hm","signature":"signed"},{"type":"redacted_thinking","data":"sealed"},` +
		`{"type":"text","text":"Hel"},{"type":"text","text":"lo"},` +
		`{"type":"tool_use","id":"a","name":"x","input":{"q":1}},{"type":"tool_use","id":"b","name":"y","input":{}}],` +
		`"stop_reason":"tool_use","stop_sequence":null,` +
		`"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":4}}`
	for _, tt := range []struct {
		name, body string
		want       played
	}{
		{"a whole reply", whole, played{
			Text: "Hello", Reasoning: "hm", Signature: `[{"thinking":"hm","signature":"signed"},{"redacted":"sealed"}]`,
			Calls: []llm.Call{
				{ID: "a", Name: "x", Arguments: []byte(`{"q":1}`)}, {ID: "b", Name: "y", Arguments: []byte(`{}`)},
			}, Finish: llm.FinishCalls, Usage: &llm.Usage{In: 5, Out: 4},
		}},
		{"no stop reason", `{"type":"message","content":[{"type":"text","text":"Hel"}],"usage":{}}`,
			played{Text: "Hel", Err: llm.KindIncomplete}},
		{"cut off", whole[:len(whole)/2], played{Err: llm.KindProtocol}},
		{"no reply", `{"status":"ok"}`, played{Err: llm.KindProtocol}},
	} {
		m, _ := serve(t, Config{}, scripted.Reply{Fault: scripted.Fault{
			Raw: []byte(tt.body), RawType: "application/json; charset=utf-8",
		}})
		got, failed := hear(t, m, hello)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.name, failed, diff)
		}
	}
}
