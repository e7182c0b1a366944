package agent

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/llm/openai"
)

// wired is one answer of a provider's server, byte by byte as it is sent.
type wired struct {
	status int    // 0: 200
	kind   string // content type; empty: an event stream
	after  string // Retry-After
	body   string
	reset  bool // the connection breaks after the body
	silent bool // nothing more comes, and no end
}

func events(data ...string) string {
	return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
}

func piece(text string) string {
	return `{"choices":[{"index":0,"delta":{"content":` + strconv.Quote(text) + `},"finish_reason":null}]}`
}

func ends(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func toolCalls(calls string) string { return `{"choices":[{"delta":{"tool_calls":[` + calls + `]}}]}` }

const theEnd = "[DONE]"

var (
	lookUp = toolCalls(
		`{"index":0,"id":"s1","type":"function","function":{"name":"search_documents",` +
			`"arguments":"{\"query\":\"holiday\"}"}}`,
	)
	looks   = wired{body: events(lookUp, ends("tool_calls"), theEnd)}
	answers = wired{
		body: events(piece("There are 28 days of paid "), piece("holiday a year [1]."), ends("stop"), theEnd),
	}
)

// misplaced says what a strict provider has against a request's history: each call must have its result right after it,
// in the order of the calls.
func misplaced(body []byte) string {
	var request struct {
		Messages []struct {
			Role   string
			CallID string                `json:"tool_call_id"`
			Calls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err.Error()
	}
	var open []struct{ ID string }
	for _, m := range request.Messages {
		switch {
		case m.Role == "tool" && (len(open) == 0 || open[0].ID != m.CallID):
			return "The result " + m.CallID + " has no call before it."
		case m.Role == "tool":
			open = open[1:]
		case len(open) > 0:
			return "The call " + open[0].ID + " must be followed by its result."
		default:
			open = m.Calls
		}
	}
	if len(open) > 0 {
		return "The call " + open[0].ID + " has no result."
	}
	return ""
}

// provider serves the answers in order, the last one again and again, with a flush after each step of so many bytes. It
// refuses a history that is not whole.
func provider(t *testing.T, step int, replies ...wired) (*openai.Model, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		reply := replies[min(int(asked.Add(1)), len(replies))-1]
		if wrong := misplaced(body); wrong != "" {
			reply = wired{
				status: http.StatusBadRequest, kind: "application/json",
				body: `{"error":{"message":` + strconv.Quote(wrong) + `,"type":"invalid_request_error"}}`,
			}
		}
		if reply.kind == "" {
			reply.kind = "text/event-stream"
		}
		w.Header().Set("Content-Type", reply.kind)
		if reply.after != "" {
			w.Header().Set("Retry-After", reply.after)
		}
		w.WriteHeader(max(reply.status, http.StatusOK))
		each := step
		if len(reply.body) > 1<<20 {
			each = 1 << 16
		}
		for part := range slices.Chunk([]byte(reply.body), each) {
			if _, err := w.Write(part); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
		switch {
		case reply.reset:
			panic(http.ErrAbortHandler)
		case reply.silent:
			select {
			case <-r.Context().Done():
			case <-gone:
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(gone) })
	m, err := openai.New(openai.Config{
		BaseURL: server.URL + "/v1", Model: "m", Log: slog.New(slog.DiscardHandler), FirstToken: 2 * time.Second,
		Idle: 2 * time.Second, RetryFor: 20 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m, &asked
}
