package openai

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// Row 40: reasoning goes back as the server wants it: by rule where that is known, else by one change after its
// refusal.
func TestReasoningIsSentBackWhereItIsWanted(t *testing.T) {
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
