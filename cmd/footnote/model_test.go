package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// modelServer is a model's server on loopback that keeps what it was asked and lets a test act while it answers.
type modelServer struct {
	url   string
	web   *httptest.Server
	inner *scripted.Server

	mu       sync.Mutex
	requests []string               // bodies of chat requests
	written  int                    // bytes of all replies
	onBytes  func(n int)            // called after bytes were written, with their number so far
	onEmbed  func() <-chan struct{} // an embedding request waits for it, but for the look of a health check
}

// newModel starts a model server with a script; nil is the librarian.
func newModel(t testing.TB, config scripted.Config) *modelServer {
	t.Helper()
	m := &modelServer{inner: scripted.NewServer(config)}
	m.web = httptest.NewServer(m)
	m.url = m.web.URL + "/v1"
	t.Cleanup(func() {
		m.web.CloseClientConnections()
		m.web.Close()
	})
	return m
}

// env are the settings that make Footnote use this server.
func (m *modelServer) env() []string {
	return []string{"OPENAI_BASE_URL=" + m.url, "OPENAI_API_KEY=test-key", "OPENAI_MODEL=scripted"}
}

func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // whole, so that net/http notices when the client is killed
	if err != nil {
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	m.mu.Lock()
	gate := m.onEmbed
	if strings.Contains(string(body), `["footnote"]`) {
		gate = nil
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		gate, m.requests = nil, append(m.requests, string(body))
	}
	m.mu.Unlock()
	if gate != nil && strings.HasSuffix(r.URL.Path, "/embeddings") {
		select {
		case <-gate():
		case <-r.Context().Done():
			return
		}
	}
	m.inner.ServeHTTP(&tap{ResponseWriter: w, m: m}, r)
}

// tap counts what goes through.
type tap struct {
	http.ResponseWriter
	m *modelServer
}

func (w *tap) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.m.mu.Lock()
	w.m.written += n
	total, act := w.m.written, w.m.onBytes
	w.m.mu.Unlock()
	if act != nil {
		act(total)
	}
	return n, err
}

func (w *tap) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (m *modelServer) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.requests...)
}

// wire is a chat request as a provider sees it.
type wire struct {
	Messages []struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// checkHistory fails unless a provider would take the request: each call has exactly one result, right behind it, and
// no result is without its call.
func checkHistory(body string) error {
	var req wire
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, msg := range req.Messages {
		if msg.Role == "tool" {
			if !open[msg.ToolCallID] {
				return fmt.Errorf("message %d is a result without a call: %q", i, msg.ToolCallID)
			}
			delete(open, msg.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("calls %v have no result before message %d", open, i)
		}
		for _, call := range msg.ToolCalls {
			if call.ID == "" || open[call.ID] {
				return fmt.Errorf("message %d has a call with the id %q", i, call.ID)
			}
			if !json.Valid([]byte(call.Function.Arguments)) {
				return fmt.Errorf("message %d has a call with the arguments %q", i, call.Function.Arguments)
			}
			open[call.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %v have no result", open)
	}
	return nil
}
