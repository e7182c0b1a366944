package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/e2e/scripted"
)

// serve starts a scripted server and returns a model that uses it.
func serve(t *testing.T, c Config, replies ...scripted.Reply) (*Model, *scripted.Server) {
	t.Helper()
	server := scripted.NewServer(scripted.Config{Record: 100, Script: func(r scripted.Request) scripted.Reply {
		return replies[min(r.N, len(replies)-1)]
	}})
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	c.BaseURL = web.URL + "/v1"
	return newTestModel(t, c), server
}

func ask(t *testing.T, m *Model, req llm.Request) (got played, failed *llm.Error) {
	t.Helper()
	for part, err := range m.Stream(t.Context(), req) {
		if err != nil {
			e, ok := errors.AsType[*llm.Error](err)
			if !ok {
				t.Fatalf("got error of type %T: %v", err, err)
			}
			got.Err, failed = e.Kind, e
			continue
		}
		got.take(part)
	}
	return got, failed
}

var hello = llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello?"}}}

func TestRecordedReplyIsStreamed(t *testing.T) {
	m, _ := serve(t, Config{APIKey: "sk-1"}, scripted.Reply{
		Reasoning: "hm", Text: "The roof is “fine”, 100 %.",
		Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{"q":"ü"}`)}},
	})
	got, _ := ask(t, m, hello)
	want := played{
		Text: "The roof is “fine”, 100 %.", Reasoning: "hm", Calls: []llm.Call{okCall("c", "x", `{"q":"ü"}`)},
		Finish: llm.FinishCalls, Usage: &llm.Usage{In: 100, Out: 26},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRequestIsComplete(t *testing.T) {
	m, server := serve(t, Config{}, scripted.Reply{Text: "ok"})
	temperature, seed := 0.5, int64(7)
	req := llm.Request{
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Text: "Be brief."}, {Role: llm.RoleUser, Text: "Roof?"},
			{Role: llm.RoleAssistant, Text: "I look.", Calls: []llm.Call{okCall("c", "search", `{"query":"roof"}`)}},
			{Role: llm.RoleTool, CallID: "c", Text: `{"documents":[]}`},
		},
		Tools: []llm.ToolSpec{
			{Name: "search", Description: "Search.",
				Schema: json.RawMessage(`{"properties":{"query":{"type":"string"}},"type":"object"}`)},
		},
		NoTools:     true,
		Temperature: &temperature, Seed: &seed, MaxTokens: 99,
	}
	_, _ = ask(t, m, req)
	if diff := cmp.Diff(req, server.Requests()[0].Request); diff != "" {
		t.Error(diff)
	}
}

func TestRepairsHistory(t *testing.T) {
	user, answer := llm.Message{Role: llm.RoleUser, Text: "q"}, llm.Message{Role: llm.RoleAssistant, Text: "a"}
	calls := llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{okCall("1", "x", "{}"), okCall("2", "x", "{}")}}
	result := func(id, text string) llm.Message { return llm.Message{Role: llm.RoleTool, CallID: id, Text: text} }
	for _, tt := range []struct {
		name     string
		in, want []llm.Message
	}{
		{"a whole history stays", []llm.Message{user, calls, result("1", "r"), result("2", "s"), answer},
			[]llm.Message{user, calls, result("1", "r"), result("2", "s"), answer}},
		{"a call without a result gets one", []llm.Message{user, calls, result("2", "s"), user},
			[]llm.Message{user, calls, result("1", httpllm.NoResult), result("2", "s"), user}},
		{"results in another order", []llm.Message{user, calls, result("2", "s"), result("1", "r")},
			[]llm.Message{user, calls, result("1", "r"), result("2", "s")}},
		{"a result behind another message", []llm.Message{calls, user, result("1", "r"), result("2", "s")},
			[]llm.Message{calls, result("1", "r"), result("2", "s"), user}},
		{"a result without a call goes", []llm.Message{user, result("9", "r"), answer}, []llm.Message{user, answer}},
		{"a second result of one call goes",
			[]llm.Message{calls, result("1", "r"), result("1", "again"), result("2", "s")},
			[]llm.Message{calls, result("1", "r"), result("2", "s")}},
		{"an empty assistant message goes", []llm.Message{user, {Role: llm.RoleAssistant}, user},
			[]llm.Message{user, user}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, httpllm.Repair(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRetries(t *testing.T) {
	ok := scripted.Reply{Text: "Hello"}
	fault := func(f scripted.Fault) scripted.Reply { return scripted.Reply{Text: "one two three", Fault: f} }
	for _, tt := range []struct {
		name    string
		replies []scripted.Reply
		tries   int
		want    llm.ErrorKind
	}{
		{"a failed server is tried again", []scripted.Reply{fault(scripted.Fault{Status: 503}), ok}, 2, ""},
		{"a reply that breaks before its first piece is tried again",
			[]scripted.Reply{fault(scripted.Fault{CutAfter: -1}), ok}, 2, ""},
		{"never after the first piece", []scripted.Reply{fault(scripted.Fault{CutAfter: 2}), ok}, 1,
			llm.KindIncomplete},
		{"three tries are all", []scripted.Reply{fault(scripted.Fault{Status: 500})}, 3, llm.KindServer},
		{"a limit is the caller's matter", []scripted.Reply{fault(scripted.Fault{Status: 429, RetryAfter: "90"}), ok},
			1, llm.KindRateLimited},
		{"a refused key is final", []scripted.Reply{fault(scripted.Fault{Status: 401}), ok}, 1, llm.KindAuth},
		{"a spent quota is final",
			[]scripted.Reply{
				fault(scripted.Fault{
					Status: 429,
					Body:   `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`,
				}), ok,
			}, 1, llm.KindQuota},
		{"a bad request is final", []scripted.Reply{fault(scripted.Fault{Status: 400}), ok}, 1, llm.KindInvalid},
		{"a page of a proxy is a failed server",
			[]scripted.Reply{fault(scripted.Fault{Status: 502, Body: "<html>Bad gateway</html>"}), ok}, 2, ""},
		{"an empty reply is not tried again", []scripted.Reply{{Chunks: []string{}}, ok}, 1, llm.KindEmpty},
		{"a page instead of a stream is final",
			[]scripted.Reply{fault(scripted.Fault{Raw: []byte("<html>hi</html>"), RawType: "text/html"}), ok}, 1,
			llm.KindProtocol},
		{"an error as JSON at status 200",
			[]scripted.Reply{
				fault(scripted.Fault{
					Raw: []byte(`{"error":{"message":"no","code":401}}`), RawType: "application/json",
				}), ok,
			}, 1, llm.KindAuth},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m, server := serve(t, Config{APIKey: "sk-1"}, tt.replies...)
			got, failed := ask(t, m, hello)
			if got.Err != tt.want || server.Count() != tt.tries {
				t.Errorf("error %q after %d tries, want %q after %d (%v)", got.Err, server.Count(), tt.want,
					tt.tries, failed)
			}
			if tt.want == llm.KindRateLimited && failed.RetryAfter != 90*time.Second {
				t.Errorf("RetryAfter = %v, want 90s", failed.RetryAfter)
			}
		})
	}
}

func TestSilentServerTimesOut(t *testing.T) {
	const short, long = 50 * time.Millisecond, time.Minute // long: the timeout that is not under test
	for name, tt := range map[string]struct {
		stall            int
		firstToken, idle time.Duration
	}{"before the first piece": {-1, short, long}, "after it": {1, long, short}} {
		m, _ := serve(t, Config{FirstToken: tt.firstToken, Idle: tt.idle, RetryFor: time.Millisecond},
			scripted.Reply{Text: "one two three", Fault: scripted.Fault{StallAfter: tt.stall}})
		got, failed := ask(t, m, hello)
		if got.Err != llm.KindTimeout || failed.Shown != (tt.stall > 0) {
			t.Errorf("%s: got %+v, %v; want Err %v and Shown %v", name, got, failed, llm.KindTimeout, (tt.stall > 0))
		}
	}
}

func TestKeepalivesDoNotPreventTimeout(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case <-ticker.C:
				_, _ = io.WriteString(w, ": waiting\n\n")
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	t.Cleanup(web.Close)
	m := newTestModel(t, Config{BaseURL: web.URL, FirstToken: 60 * time.Millisecond, RetryFor: time.Millisecond})
	if got, _ := ask(t, m, hello); got.Err != llm.KindTimeout {
		t.Errorf("got %+v, want a timeout", got)
	}
}

func TestCancellationEndsRequest(t *testing.T) {
	m, _ := serve(t, Config{}, scripted.Reply{Text: "one two three", Fault: scripted.Fault{StallAfter: 1}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for part, err := range m.Stream(ctx, hello) {
		if _, ok := part.(llm.Text); ok {
			cancel()
		}
		last = err
	}
	if llm.KindOf(last) != llm.KindCancelled {
		t.Errorf("got %v, want a cancelled error", last)
	}
}

func TestUnreachableServer(t *testing.T) {
	m := newTestModel(t, Config{BaseURL: "http://127.0.0.1:1/v1", RetryFor: time.Millisecond})
	if got, _ := ask(t, m, hello); got.Err != llm.KindUnreachable {
		t.Errorf("error kind = %q, want %q", got.Err, llm.KindUnreachable)
	}
}

func TestRefusedFieldsAreRemembered(t *testing.T) {
	var requests atomic.Int32
	var last atomic.Value
	server := refusingFields(1, "stream_options", "max_tokens", "temperature")
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		last.Store(string(body))
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		server.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	m := newTestModel(t, Config{BaseURL: web.URL})
	temperature := 0.0
	req := llm.Request{Messages: hello.Messages, Temperature: &temperature, MaxTokens: 10}
	if got, err := ask(t, m, req); err != nil || got.Text == "" || requests.Load() != 4 {
		t.Fatalf("got %+v, %v after %d requests; want something and 4", got, err, requests.Load())
	}
	if _, _ = ask(t, m, req); requests.Load() != 5 {
		t.Errorf("the second reply took %d requests, want 1", requests.Load()-4)
	}
	if body := last.Load().(string); !strings.Contains(body, `"max_completion_tokens":10`) {
		t.Errorf("the other name of the token limit is not used: %s, want %q in it", body, `"max_completion_tokens":10`)
	}
}

// A Notice in each reply reports the fields that the server refuses.
func TestRefusedFieldsAreReported(t *testing.T) {
	web := httptest.NewServer(refusingFields(1, "seed", "temperature"))
	t.Cleanup(web.Close)
	m := newTestModel(t, Config{BaseURL: web.URL})
	temperature, seed := 0.5, int64(7)
	for _, tt := range []struct {
		req  llm.Request
		want []llm.Notice
	}{
		{llm.Request{Messages: hello.Messages, Temperature: &temperature, Seed: &seed},
			[]llm.Notice{
				"m does not support a seed: the seed was ignored",
				"m does not support a temperature: the temperature was ignored",
			}},
		{llm.Request{Messages: hello.Messages, Temperature: &temperature},
			[]llm.Notice{"m does not support a temperature: the temperature was ignored"}},
		{hello, nil},
	} {
		var said []llm.Notice
		last := llm.Part(nil)
		for part, err := range m.Stream(t.Context(), tt.req) {
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := part.(llm.Notice); ok {
				said = append(said, n)
			}
			last = part
		}
		if diff := cmp.Diff(tt.want, said); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, ok := last.(llm.Done); !ok {
			t.Errorf("last part = %#v, want llm.Done", last)
		}
	}
}

func TestKeyIsNeverPrinted(t *testing.T) {
	c := Config{APIKey: "sk-secret", Model: "m"}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", c.APIKey, "config", c)
	if printed := fmt.Sprintf("%v %+v %#v %s", c, c, c, c.APIKey) + log.String(); strings.Contains(printed,
		"sk-secret") {
		t.Errorf("the key is printed: %s, want no %q in it", printed, "sk-secret")
	}
	m, _ := serve(t, Config{APIKey: "sk-secret"}, scripted.Reply{
		Fault: scripted.Fault{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-secret"}}`},
	})
	if _, err := ask(t, m, hello); err == nil || strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("the key is in the error: %v, want no %q in it", err, "sk-secret")
	}
}

func TestEnvironmentKeysAreNotSent(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-environment")
	var sent atomic.Value
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent.Store(fmt.Sprint(r.Header))
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(web.Close)
	_, _ = ask(t, newTestModel(t, Config{BaseURL: web.URL}), hello)
	if got, _ := sent.Load().(string); got == "" || strings.Contains(got, "sk-environment") {
		t.Errorf("the headers are %s; want something and no %q in it", got, "sk-environment")
	}
}

func TestConnectionsAreReused(t *testing.T) {
	var connections atomic.Int32
	web := httptest.NewUnstartedServer(scripted.NewServer(scripted.Config{Delay: time.Millisecond}))
	web.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	web.Start()
	t.Cleanup(web.Close)
	m := newTestModel(t, Config{BaseURL: web.URL})
	for range 5 {
		_, _ = ask(t, m, hello)
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("5 replies took %d connections, want 1", n)
	}
}

// refusingFields is a server that refuses requests with a field, the first of the fields first; see
// scripted.RefuseTogether for n.
func refusingFields(n int, fields ...string) http.Handler {
	var server http.Handler = scripted.NewServer(scripted.Config{})
	for _, field := range slices.Backward(fields) {
		server = scripted.RefuseTogether(server, n, field,
			`{"error":{"message":"Unsupported parameter: '`+field+`'"}}`)
	}
	return server
}

// The first questions after a start are often concurrent: each has to learn by itself which fields the server
// refuses.
func TestConcurrentRefusedRequestsAreRetried(t *testing.T) {
	t.Parallel()
	const n = 4
	for _, field := range []string{"temperature", "seed", "stream_options", "max_tokens", "top_logprobs"} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			web := httptest.NewServer(refusingFields(n, field))
			t.Cleanup(web.Close)
			m := newTestModel(t, Config{BaseURL: web.URL})
			req := llm.Request{
				Messages: hello.Messages, Temperature: new(0.5), Seed: new(int64(7)), MaxTokens: 10, TopLogprobs: 5,
			}
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					if got, err := ask(t, m, req); err != nil || got.Text == "" {
						t.Errorf("a request that was refused beside others = %+v, %v; want a reply", got, err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// The prompt progress is requested from llama.cpp only, once the server was identified; others might refuse the
// field.
func TestPromptProgressIsReported(t *testing.T) {
	t.Parallel()
	const reply = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],` +
		`"prompt_progress":{"total":200,"cache":0,"processed":122,"time_ms":900}}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	for name, asks := range map[string]bool{"llama.cpp": true, "nginx": false} {
		var mu sync.Mutex
		var asked []bool
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, strings.Contains(string(body), `"return_progress":true`))
			w.Header().Set("Server", name)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, reply)
		}))
		defer web.Close()
		m := newTestModel(t, Config{BaseURL: web.URL})
		var read []llm.Reading
		for range 2 {
			for part, err := range m.Stream(t.Context(), hello) {
				if err != nil {
					t.Fatal(err)
				}
				if p, ok := part.(llm.Reading); ok {
					read = append(read, p)
				}
			}
		}
		if diff := cmp.Diff([]bool{false, asks}, asked); diff != "" || len(read) != 2 || read[0] != 0.61 {
			t.Errorf("%s: read %v, want 0.61 twice; asked for it (-want +got):\n%s", name, read, diff)
		}
	}
}

// Row 40: reasoning is sent back as the server requires: by rule for known servers, else by one change after its
// refusal.
func TestReasoningIsReturnedWhenRequired(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		path    string
		refuses func(body string) bool
		tries   int32
		sent    bool
	}{
		{"nobody asks for it", "/v1", func(string) bool { return false }, 1, false},
		{"the server misses it", "/v1",
			func(body string) bool { return !strings.Contains(body, "reasoning_content") }, 2, true},
		{"a server that is known to want it", "/api.deepseek.com/v1", func(string) bool { return false }, 1, true},
		{"it changed its mind", "/api.deepseek.com/v1",
			func(body string) bool { return strings.Contains(body, "reasoning_content") }, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			var last atomic.Value
			ok := scripted.NewServer(scripted.Config{})
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return
				}
				last.Store(string(body))
				if tt.refuses(string(body)) {
					w.WriteHeader(http.StatusBadRequest)
					_, _ = fmt.Fprint(w, `{"error":{"message":"invalid reasoning_content in the assistant message"}}`)
					return
				}
				r.Body, r.URL.Path = io.NopCloser(strings.NewReader(string(body))), "/v1/chat/completions"
				ok.ServeHTTP(w, r)
			}))
			t.Cleanup(web.Close)
			m := newTestModel(t, Config{BaseURL: web.URL + tt.path})
			req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Roof?"},
				{Role: llm.RoleAssistant, Reasoning: "hm <b>", Calls: []llm.Call{okCall("c", "x", "{}")}},
				{Role: llm.RoleTool, CallID: "c", Text: "{}"}}}
			for range 2 {
				if got, err := ask(t, m, req); err != nil || got.Text == "" {
					t.Fatalf("got %+v, %v; want something", got, err)
				}
			}
			if n := tries.Load(); n != tt.tries+1 {
				t.Errorf("%d requests, want %d", n, tt.tries+1)
			}
			if body := last.Load().(string); strings.Contains(body, `"reasoning_content":"hm <b>"`) != tt.sent {
				t.Errorf("sent: %s", body)
			}
		})
	}
}
