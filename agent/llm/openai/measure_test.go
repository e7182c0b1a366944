package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// A model is small if it is slow, has a short context, or can't call a tool and use its result.
func TestMeasureDetectsSmallModels(t *testing.T) {
	t.Parallel()
	call := scripted.Reply{
		Calls: []llm.Call{{Name: "search_documents", Arguments: json.RawMessage(`{"query":"key"}`)}},
		Usage: &llm.Usage{In: 5000, Out: 20},
	}
	slow := call
	slow.Usage, slow.Delay = &llm.Usage{In: 5, Out: 20}, 60*time.Millisecond
	used := scripted.Reply{Text: "The key has the number 4711."}
	for _, tt := range []struct {
		name    string
		room    int
		replies []scripted.Reply
		small   string // a part of why; empty: it is not
	}{
		{"large", 32768, []scripted.Reply{call, used}, ""},
		{"says no context", 0, []scripted.Reply{call, used}, ""},
		{"little room", 8192, []scripted.Reply{call, used}, "8192"},
		{"slow", 32768, []scripted.Reply{slow, used}, "tokens/s in"},
		{"no call", 32768, []scripted.Reply{{Text: "The number is 12."}}, "tool call"},
		{"result not used", 32768, []scripted.Reply{call, {Text: "I searched."}}, "the result of a tool"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			replies := append([]scripted.Reply{{Text: "Hello"}}, tt.replies...)
			fake := scripted.NewServer(scripted.Config{Model: "m", Owner: "llamacpp", Room: tt.room, Record: 9,
				Script: func(r scripted.Request) scripted.Reply { return replies[min(r.N, len(replies)-1)] }})
			server := httptest.NewServer(fake)
			defer server.Close()
			m := newTestModel(t, Config{BaseURL: server.URL + "/v1"})
			found, err := m.Measure(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if why := found.Small(); (why == "") != (tt.small == "") || !strings.Contains(why, tt.small) {
				t.Errorf("small because of %q, want %q (%+v)", why, tt.small, found)
			}
			for _, r := range fake.Requests()[1:] {
				if r.Temperature == nil || *r.Temperature != 0 || r.MaxTokens != 64 {
					t.Errorf("a probe had temperature %v and %d tokens, want 0 and 64", r.Temperature, r.MaxTokens)
				}
			}
		})
	}
}

// Only self-hosted servers are measured: others cost money, and are fast.
func TestOnlyLocalServersAreMeasured(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		owner string
		want  bool
	}{{"llamacpp", true}, {"library", true}, {"openai", false}} {
		server := httptest.NewServer(scripted.NewServer(scripted.Config{Model: "m", Owner: tt.owner}))
		defer server.Close()
		got, known := newTestModel(t, Config{BaseURL: server.URL + "/v1"}).IsLocal(t.Context())
		if got != tt.want || !known {
			t.Errorf("%s: local %v, known %v; want %v and true", tt.owner, got, known, tt.want)
		}
	}
	for status, want := range map[int]bool{200: true, 401: true, 404: true, 429: false, 503: false} {
		silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "this is no list")
		}))
		defer silent.Close()
		if local, known := newTestModel(t, Config{BaseURL: silent.URL}).IsLocal(t.Context()); local || known != want {
			t.Errorf("a server with status %d is local %v, known %v; want false and %v", status, local, known, want)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list",`)
		_ = http.NewResponseController(w).Flush()
		stop()
		<-r.Context().Done()
	}))
	defer broken.Close()
	if local, known := newTestModel(t, Config{BaseURL: broken.URL}).IsLocal(stopped); local || known {
		t.Errorf("a list that was not read to its end is local %v, known %v; want neither", local, known)
	}
	if local, known := newTestModel(t, Config{}).IsLocal(t.Context()); local || known {
		t.Errorf("a server that is not there is local %v, known %v; want neither", local, known)
	}
}
