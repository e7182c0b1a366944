package openai

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
)

// replay serves bytes as an event stream, whole or with a flush after each. A broken one ends by a reset.
func replay(wire string, broken, bytewise bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		flush := http.NewResponseController(w).Flush
		step := max(1, len(wire))
		if bytewise {
			step = 1
		}
		for at := 0; at < len(wire); at += step {
			if _, err := io.WriteString(w, wire[at:min(at+step, len(wire))]); err != nil {
				return // the client has its end
			}
			if flush() != nil {
				return
			}
		}
		if broken {
			panic(http.ErrAbortHandler)
		}
	})
}

// narrow hands on a body one byte at a time, whatever the network puts together.
type narrow struct{ http.RoundTripper }

func (n narrow) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := n.RoundTripper.RoundTrip(r)
	if err == nil {
		res.Body = struct {
			io.Reader
			io.Closer
		}{iotest.OneByteReader(res.Body), res.Body}
	}
	return res, err
}

// Every stream comes out the same through a real server and a real client.
func TestStreamFaultsOverHTTP(t *testing.T) {
	t.Parallel()
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, way := range []struct {
				name     string
				bytewise bool
				through  http.RoundTripper
			}{
				{"whole", false, http.DefaultTransport}, {"sent a byte at a time", true, http.DefaultTransport},
				{"read a byte at a time", true, narrow{http.DefaultTransport}},
			} {
				server := httptest.NewServer(replay(tt.wire, tt.end != nil, way.bytewise))
				defer server.Close()
				// one try
				m := newTestModel(t, Config{
					BaseURL: server.URL + "/v1", HTTPClient: &http.Client{Transport: way.through}, RetryFor: 1,
				})
				req := tt.req
				if len(req.Messages) == 0 {
					req.Messages = hello.Messages
				}
				got, failed := ask(t, m, req)
				if failed != nil {
					got.Code, got.Usage = failed.Code, failed.Usage
					if failed.Shown != (got.Text != "") {
						t.Errorf("%s: Shown = %v with text %q, want %v",
							way.name, failed.Shown, got.Text, (got.Text != ""))
					}
				}
				want := tt.want
				// a call without an id is named by its place in the history
				if len(want.Calls) > 0 && len(tt.req.Messages) == 0 {
					want.Calls = nil
					for _, c := range tt.want.Calls {
						if len(c.ID) > len("call_0") && c.ID[:len("call_0")] == "call_0" {
							c.ID = "call_1" + c.ID[len("call_0"):]
						}
						want.Calls = append(want.Calls, c)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", way.name, diff)
				}
			}
		})
	}
}

// A stream whose every event is right is not complete until its end is there: cut anywhere, an error comes last and no
// call at all.
func TestACutReplyIsNeverComplete(t *testing.T) {
	t.Parallel()
	wire := data(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, text("日本 Hel"), text("lo"),
		call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"q\":"}}`),
		call(`{"index":0,"function":{"arguments":"1}"}}`), fin("tool_calls"))
	for cut := range len(wire) {
		if got := play(t, strings.NewReader(wire[:cut]), hello); got.Finish != "" || len(got.Calls) > 0 ||
			got.Err == "" {
			t.Errorf("cut at %d of %d: %+v; want Finish nothing, no calls, something", cut, len(wire), got)
		}
	}
	if got := play(t, strings.NewReader(wire), hello); got.Finish != llm.FinishCalls || len(got.Calls) != 1 {
		t.Errorf("whole: %+v; want Finish %v and 1 call", got, llm.FinishCalls)
	}
}
