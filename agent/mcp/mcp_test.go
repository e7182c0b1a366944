package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
)

// TestMain runs the test binary as a stdio server if ACT_AS_SERVER is set.
func TestMain(m *testing.M) {
	if os.Getenv("ACT_AS_SERVER") == "" {
		os.Exit(m.Run())
	}
	fmt.Fprintln(os.Stderr, "my token is", os.Getenv("TOKEN"))
	if err := workshop().Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

type greeting struct {
	Name string `json:"name" jsonschema:"whom to greet"`
}

// workshop returns a server with a tool for each outcome of a call.
func workshop() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "workshop", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "greet", Description: "Greets somebody."},
		func(_ context.Context, _ *sdk.CallToolRequest, in greeting) (*sdk.CallToolResult, any, error) {
			if in.Name == "nobody" {
				return nil, nil, errors.New("there is nobody")
			}
			return text("Good day, " + in.Name), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "env.names"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return text(strings.Join(os.Environ(), "\n")), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "long"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return text(strings.Repeat("é", maxText)), nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "picture"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{
				Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: []byte("1234")}},
			}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "wait"},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})
	sdk.AddTool(s, &sdk.Tool{Name: "die"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			os.Exit(3)
			return nil, nil, nil
		})
	return s
}

func text(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

const token = "tok-canary-5512"

func program(t *testing.T) Server {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Command: self, Env: map[string]string{"ACT_AS_SERVER": "1", "TOKEN": token}}
}

// connected runs a client until the test ends, and waits until each server was tried.
func connected(t *testing.T, servers map[string]Server) (*Client, *logged) {
	t.Helper()
	log := &logged{}
	c, err := New(Config{
		Servers: servers, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { c.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	c.Settled(t.Context())
	return c, log
}

type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func find(t *testing.T, c *Client, name string) *Tool {
	t.Helper()
	var names []string
	for _, tool := range c.Tools() {
		if tool.Name == name {
			return tool
		}
		names = append(names, tool.Name)
	}
	t.Fatalf("tool %s is missing in %v", name, names)
	return nil
}

func TestStdioToolsAreListedAndCalled(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-not-yours")
	server := program(t)
	server.Free, server.Held = true, []string{"env.names"}
	c, log := connected(t, map[string]Server{"shop": server})
	greet := find(t, c, "shop__greet")
	if greet.Approve || greet.Description != "Greets somebody." ||
		!strings.Contains(string(greet.Schema), "whom to greet") {
		t.Errorf("greet = %+v %s; want Approve false and Description %q", greet, greet.Schema, "Greets somebody.")
	}
	if names := find(t, c, "shop__env_names"); !names.Approve {
		t.Error("restricted tool needs no approval, want it required")
	}
	for _, tt := range []struct {
		tool, args string
		want       Result
	}{
		{"shop__greet", `{"name":"Ada"}`, Result{Text: "Good day, Ada"}},
		{"shop__greet", `{"name":"nobody"}`, Result{Text: "there is nobody", Failed: true}},
		{"shop__long", `{}`, Result{Text: strings.Repeat("é", maxText/2), Cut: true}},
		{"shop__picture", `{}`, Result{Text: "[an image, image/png, 4 bytes]"}},
	} {
		got, err := c.Call(t.Context(), find(t, c, tt.tool), json.RawMessage(tt.args))
		if err != nil || got.Text != tt.want.Text || got.Failed != tt.want.Failed || got.Cut != tt.want.Cut {
			t.Errorf("%s %s = %.80q %v %v, %v; want %.80q, %v, %v",
				tt.tool, tt.args, got.Text, got.Failed, got.Cut, err, tt.want.Text, tt.want.Failed, tt.want.Cut)
		}
	}
	seen, err := c.Call(t.Context(), find(t, c, "shop__env_names"), json.RawMessage(`{}`))
	if err != nil || strings.Contains(seen.Text, "sk-not-yours") || !strings.Contains(seen.Text, "TOKEN=[set]") {
		t.Errorf("the program saw %v %v; want no %q in it and %q in it", seen.Text, err, "sk-not-yours", "TOKEN=[set]")
	}
	if got, err := c.Call(t.Context(), &Tool{Server: "shop", Remote: "unknown"}, json.RawMessage(`{}`)); err != nil ||
		!got.Failed {
		t.Errorf("an unknown tool = %+v, %v; want Failed true", got, err)
	}
	if strings.Contains(log.String(), token) || !strings.Contains(log.String(), "my token is [set]") {
		t.Errorf("log:\n%s", log)
	}
}

func TestCrashedStdioServerIsRestarted(t *testing.T) {
	t.Parallel()
	c, _ := connected(t, map[string]Server{"shop": program(t)})
	_, err := c.Call(t.Context(), find(t, c, "shop__die"), json.RawMessage(`{}`))
	if err == nil || chat.CodeOf(err) != chat.CodeUnavailable {
		t.Fatalf("the call that killed it = %v, want %v", err, chat.CodeUnavailable)
	}
	greet := find(t, c, "shop__greet") // still listed
	for {
		got, err := c.Call(t.Context(), greet, json.RawMessage(`{"name":"Ada"}`))
		if err == nil && got.Text == "Good day, Ada" {
			return
		}
		if chat.CodeOf(err) != chat.CodeUnavailable || t.Context().Err() != nil {
			t.Fatalf("while it is away = %+v, %v; want %v", got, err, chat.CodeUnavailable)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func TestCallEndsWithContext(t *testing.T) {
	t.Parallel()
	c, _ := connected(t, map[string]Server{"shop": program(t)})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, find(t, c, "shop__wait"), json.RawMessage(`{}`)); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Errorf("err = %v, want %v", err, context.DeadlineExceeded)
	}
	if got, err := c.Call(t.Context(), find(t, c, "shop__greet"), json.RawMessage(`{"name":"Ada"}`)); err != nil ||
		got.Text == "" {
		t.Errorf("the next call = %+v, %v; want something", got, err)
	}
}

func TestHTTPServerGetsHeadersAndReconnects(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	down := false
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return workshop() }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		off := down
		mu.Unlock()
		switch {
		case off:
			http.Error(w, "out for lunch with "+token, http.StatusBadGateway)
		case r.Header.Get("Authorization") != "Bearer "+token:
			http.Error(w, "who are you?", http.StatusUnauthorized)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	c, log := connected(t, map[string]Server{
		"known": {URL: web.URL, Headers: map[string]string{"Authorization": "Bearer " + token},
			Tools: []string{"greet"}},
		"unknown": {URL: web.URL},
	})
	if tools := c.Tools(); len(tools) != 1 || tools[0].Name != "known__greet" || !c.Knows("unknown__greet") ||
		c.Knows("other__greet") {
		t.Fatalf("tools = %+v; want 1 tool and %q", tools, "known__greet")
	}
	greet := find(t, c, "known__greet")
	set := func(off bool) { mu.Lock(); down = off; mu.Unlock() }
	set(true)
	if _, err := c.Call(t.Context(), greet, json.RawMessage(`{"name":"Ada"}`)); err == nil ||
		chat.CodeOf(err) != chat.CodeUnavailable || strings.Contains(err.Error(), token) {
		t.Errorf("while it is down = %v; want %v and no %q in it", err, chat.CodeUnavailable, token)
	}
	set(false)
	for {
		got, err := c.Call(t.Context(), greet, json.RawMessage(`{"name":"Ada"}`))
		if err == nil && got.Text == "Good day, Ada" {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Millisecond)
	}
	if strings.Contains(log.String(), token) {
		t.Errorf("log has the token:\n%s", log)
	}
}

func TestUnreachableServerDoesNotBlockStart(t *testing.T) {
	t.Parallel()
	c, log := connected(t, map[string]Server{"gone": {Command: "/there/is/no/such/program"}, "shop": program(t)})
	find(t, c, "shop__greet")
	if !strings.Contains(log.String(), "MCP server is unavailable") {
		t.Errorf("log:\n%s", log)
	}
}

func TestSettingsAreValidated(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]Server{
		"a b": {Command: "x"}, "a__b": {Command: "x"}, "none": {}, "both": {Command: "x", URL: "http://x"},
		"scheme":  {URL: "file:///x?" + token},
		"headers": {Command: "x", Headers: map[string]string{"A": token}},
		"args":    {URL: "http://x", Args: []string{"y"}}, "slow": {Command: "x", Timeout: time.Hour},
	} {
		if _, err := New(Config{Servers: map[string]Server{name: s}}); err == nil ||
			strings.Contains(err.Error(), token) {
			t.Errorf("%s: err = %v, want no %q in it", name, err, token)
		}
	}
}

func TestToolNamesFitEveryModel(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 80)
	a, b := modelName("shop", long+"a"), modelName("shop", long+"b")
	if a == b || len(a) != maxName || strange().MatchString(a) {
		t.Errorf("names = %q, %q; want other than %q and %v", a, b, b, maxName)
	}
	if got := modelName("shop", "files.read/all"); got != "shop__files_read_all" {
		t.Errorf("name = %q, want %q", got, "shop__files_read_all")
	}
}

func TestResultOverLimitFailsOnlyItsCall(t *testing.T) {
	for name, options := range map[string]*sdk.StreamableHTTPOptions{
		"as an event": {}, "as JSON": {JSONResponse: true}, "as an event without a session": {Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			tools := workshop()
			sdk.AddTool(tools, &sdk.Tool{Name: "flood"},
				func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
					return text(strings.Repeat("a ", maxMessage)), nil, nil
				})
			web := httptest.NewServer(sdk.NewStreamableHTTPHandler(
				func(*http.Request) *sdk.Server { return tools }, options,
			))
			t.Cleanup(web.Close)
			c, log := connected(t, map[string]Server{"shop": {URL: web.URL}})
			got, err := c.Call(t.Context(), find(t, c, "shop__flood"), json.RawMessage(`{}`))
			if err != nil || !got.Failed || !strings.Contains(got.Text, "larger than 4 MB") {
				t.Errorf("result of 8 MiB = %.80q %v, %v; want a failure with the limit", got.Text, got.Failed, err)
			}
			got, err = c.Call(t.Context(), find(t, c, "shop__greet"), json.RawMessage(`{"name":"Ada"}`))
			if err != nil || got.Text != "Good day, Ada" {
				t.Errorf("the next call = %.80q, %v; want %q", got.Text, err, "Good day, Ada")
			}
			if strings.Contains(log.String(), "is away") {
				t.Errorf("the connection was lost, want it kept:\n%s", log)
			}
		})
	}
}

func TestEventsOverLimitAreDropped(t *testing.T) {
	large := "data: " + strings.Repeat("a", maxMessage) + "\n"
	for _, tt := range []struct{ name, body, instead, want string }{
		{"events", "id: 1\ndata: a\n\n: still here\n\ndata: b\r\n\r\n", "",
			"id: 1\ndata: a\n\ndata: b\n\n"},
		{"all fields", "retry: 5\n\nid: x\nevent: message\ndata: a\n\ndata: b\n\n", "",
			"id: x\nretry: 5\nevent: message\ndata: a\n\ndata: b\n\n"},
		{"one that breaks off", "data: a\n\ndata: b", "", "data: a\n\n"},
		{"one of long lines", "data: " + strings.Repeat("a", 9000) + "\ndata: b\n\n", "",
			"data: " + strings.Repeat("a", 9000) + "\ndata: b\n\n"},
		{"a large one among others", "data: a\n\n" + large + "\ndata: b\n\n", "", "data: a\n\ndata: b\n\n"},
		{"a large one of many lines", strings.Repeat("data: a\n", maxMessage/8+1) + "\ndata: b\n\n", "", "data: b\n\n"},
		{"a large one in answer to a call", "data: a\n\n" + large + "\ndata: b\n\n", "data: no\n\n",
			"data: a\n\ndata: no\n\n"},
		{"a large one that breaks off", large, "data: no\n\n", "data: no\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := newEvents(io.NopCloser(strings.NewReader(tt.body)), []byte(tt.instead))
			got, err := io.ReadAll(e)
			if err != nil || string(got) != tt.want {
				t.Errorf("events = %.200q, %v; want %.200q", got, err, tt.want)
			}
		})
	}
}

func TestResultWithTooManyValuesIsReplaced(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":7,"result":{"tools":[` + strings.Repeat("{},", maxNested) + `{}]}}`
	for kind, body := range map[string]string{
		"application/json": list, "text/event-stream": ": \"\ndata: " + list + "\n\n",
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, body)
		}))
		t.Cleanup(web.Close)
		call := strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, call)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := bounded{http.DefaultTransport}.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || len(got) > 1000 || !strings.Contains(string(got), `"code":-32000`) {
			t.Errorf("%s: %d bytes, %.200s, %v; want an error in its place", kind, len(got), got, err)
		}
	}
}
