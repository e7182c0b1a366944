package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// wire is a transport that responds with bytes.
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
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(w.wrap(body)), Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}, nil
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
	start = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],` +
		`"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}`
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
		return events(start,
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"x",`+
				`"input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":`+
				string(piece)+`}}`, off,
			strings.Replace(turnEnd, "end_turn", stopReason, 1), stop)
	}
	for _, tt := range []struct {
		name string
		wire wire
		req  llm.Request
		want played
	}{
		{"a whole reply", wire{body: events(start, textOn, hel, lo, off, turnEnd, stop)}, hello, whole},
		{"comments and pings",
			wire{body: ": hi\n\n" + events(start, `{"type":"ping"}`, textOn, hel, lo, off, turnEnd, stop)},
			hello, whole},
		{"the end without its mark", wire{body: events(start, textOn, hel, lo, off, turnEnd)}, hello, whole},
		{"an early end", wire{body: events(start, textOn, hel)}, hello, played{Text: "Hel", Err: llm.KindIncomplete}},
		{"an end inside an event",
			wire{body: events(start, textOn, hel) + "event: message_delta\ndata: {\"type\":\"mess"}, hello,
			played{Text: "Hel", Err: llm.KindIncomplete}},
		{"a broken connection", wire{body: events(start, textOn, hel), end: io.ErrUnexpectedEOF}, hello,
			played{Text: "Hel", Err: llm.KindIncomplete}},
		{"an error in the stream",
			wire{
				body: events(start, textOn, hel) +
					events(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
			}, hello, played{Text: "Hel", Err: llm.KindServer}},
		{"a spent limit in the stream",
			wire{
				body: events(start, textOn, hel) +
					events(`{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`),
			}, hello, played{Text: "Hel", Err: llm.KindRateLimited}},
		{"an empty reply", wire{body: events(start, turnEnd, stop)}, hello, played{Err: llm.KindEmpty}},
		{"nothing", wire{body: ""}, hello, played{Err: llm.KindIncomplete}},
		{"a page", wire{body: "<html>", kind: "text/html"}, hello, played{Err: llm.KindProtocol}},
		{"an error as JSON",
			wire{
				body: `{"type":"error","error":{"type":"invalid_request_error",` +
					`"message":"prompt is too long: 9 tokens > 8 maximum"}}`, kind: "application/json",
			}, hello, played{Err: llm.KindTooLong}},
		{"a call", wire{body: tool("tool_use", `{"q":1}`)}, hello,
			played{
				Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{"q":1}`)}}, Finish: llm.FinishCalls,
				Usage: usage,
			}},
		{"a call without arguments", wire{body: tool("tool_use", "")}, hello,
			played{
				Calls: []llm.Call{{ID: "c", Name: "x", Arguments: []byte(`{}`)}}, Finish: llm.FinishCalls, Usage: usage,
			}},
		{"a call where only text was asked for", wire{body: tool("tool_use", `{"q":1}`)}, llm.Request{NoTools: true},
			played{Dropped: "x {\"q\":1}\n", Err: llm.KindEmpty}},
		{"a call of a refused reply", wire{body: tool("refusal", `{"q":1}`)}, hello,
			played{Dropped: "x {\"q\":1}\n", Finish: llm.FinishRefusal, Usage: usage}},
		{"a cut call", wire{body: tool("max_tokens", `{"q":1}`)}, hello,
			played{
				Calls: []llm.Call{
					{ID: "c", Name: "x", Arguments: []byte(`{"q":1}`),
						Malformed: "the reply was truncated at its token limit before the call was complete"},
				}, Finish: llm.FinishLength, Usage: usage,
			}},
		{"malformed arguments", wire{body: tool("tool_use", `{"q":`)}, hello,
			played{
				Calls: []llm.Call{
					{ID: "c", Name: "x", Arguments: []byte(`{}`),
						Malformed: "the arguments are not valid JSON (unexpected end of JSON input): {\"q\":"},
				}, Finish: llm.FinishCalls, Usage: usage,
			}},
		{"a refusal", wire{
			body: strings.Replace(events(start, textOn, hel, off, turnEnd, stop), "end_turn", "refusal", 1),
		}, hello, played{Text: "Hel", Finish: llm.FinishRefusal, Usage: usage}},
		{"a piece of nothing", wire{body: events(start, hel)}, hello, played{Err: llm.KindProtocol}},
	} {
		for way, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "a byte at a time": iotest.OneByteReader,
		} {
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

func TestErrorsHaveKind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault scripted.Fault
		want  llm.ErrorKind
		tries int
	}{
		{scripted.Fault{
			Status: 401,
			Body:   `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key sk-ant"}}`,
		}, llm.KindAuth, 1},
		{scripted.Fault{Status: 429, RetryAfter: "30"}, llm.KindRateLimited, 1},
		{scripted.Fault{
			Status: 529, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
		}, llm.KindServer, 3},
		{scripted.Fault{
			Status: 400,
			Body: `{"type":"error","error":{"type":"invalid_request_error",` +
				`"message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
		}, llm.KindTooLong, 1},
		{scripted.Fault{Status: 404}, llm.KindInvalid, 1},
		{scripted.Fault{CutAfter: -1}, llm.KindUnreachable, 3},
	} {
		m, server := serve(t, Config{}, scripted.Reply{Text: "x", Fault: tt.fault})
		_, failed := hear(t, m, hello)
		if failed == nil || failed.Kind != tt.want || server.Count() != tt.tries ||
			strings.Contains(failed.Error(), "sk-ant") {
			t.Errorf("%+v is %v after %d tries; want Kind %v, %d, no %q in it",
				tt.fault, failed, server.Count(), tt.want, tt.tries, "sk-ant")
		}
		if tt.want == llm.KindRateLimited && failed.RetryAfter != 30*time.Second {
			t.Errorf("RetryAfter = %v", failed.RetryAfter)
		}
		if tt.want == llm.KindAuth && !strings.Contains(failed.Message.String(), "ANTHROPIC_API_KEY") {
			t.Errorf("message %q", failed.Message)
		}
	}
}

func TestSilentServerTimesOut(t *testing.T) {
	t.Parallel()
	m, _ := serve(t, Config{FirstToken: time.Minute, Idle: 50 * time.Millisecond, RetryFor: time.Millisecond},
		scripted.Reply{Text: "one two three", Fault: scripted.Fault{StallAfter: 4}})
	if got, failed := hear(t, m, hello); got.Err != llm.KindTimeout || !failed.Shown {
		t.Errorf("got %+v, %v; want Err %v and Shown true", got, failed, llm.KindTimeout)
	}
}

// canned answers every request with the same stream.
type canned []byte

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(c)),
	}, nil
}

// Fuzzing streams: no panic, and a reply is complete only if its bytes contain an event with a stop reason.
func FuzzStreamCompleteness(f *testing.F) {
	start := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n"
	block := func(b, delta string) string {
		return "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":" +
			b + "}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":" +
			delta + "}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
	}
	text := block(`{"type":"text","text":""}`, `{"type":"text_delta","text":"Hello"}`)
	tool := block(`{"type":"tool_use","id":"c","name":"x","input":{}}`,
		`{"type":"input_json_delta","partial_json":"{\"q\":1}"}`)
	thought := block(`{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"hm"}`)
	stop := func(reason string) string {
		return "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"" + reason +
			"\"},\"usage\":{\"output_tokens\":4}}\n\n"
	}
	const mark = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, seed := range []string{
		"", start, start + text, start + text + stop("end_turn") + mark, start + text + stop("end_turn"),
		start + text + mark, start + tool + stop("tool_use") + mark,
		start + thought + text + stop("max_tokens") + mark, start + tool + stop("max_tokens"),
		start + text + stop("refusal") + mark, stop("end_turn"), text + stop(""),
		"event: ping\ndata: {\"type\":\"ping\"}\n\n: note\n\n",
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"," +
			"\"message\":\"Overloaded\"}}\n\n",
		start + text[:len(text)/2], strings.ReplaceAll(start+text+stop("end_turn")+mark, "\n", "\r\n"),
		"<html>hello</html>",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		if len(wire) > 1<<16 {
			return
		}
		m := newModel(t, Config{HTTPClient: &http.Client{Transport: canned(wire)}, RetryFor: 1})
		got, _ := hear(t, m, hello)
		if got.Err == "" && !proved(wire) {
			t.Errorf("reply is complete without proof: %q", wire)
		}
		if got.Err != "" && (got.Finish != "" || len(got.Calls) > 0) {
			t.Errorf("got an end and an error, want one of them: %+v", got)
		}
		for _, c := range got.Calls {
			var object map[string]any
			if c.Malformed == "" && (json.Unmarshal(c.Arguments, &object) != nil || object == nil) {
				t.Errorf("call with the arguments %q is valid, want it malformed", c.Arguments)
			}
		}
		if got.Err == "" && got.Finish == llm.FinishStop && got.Text == "" {
			t.Errorf("empty reply is complete: %q", wire)
		}
	})
}

// proved parses an event stream independently and reports whether an event has a stop reason.
func proved(wire []byte) bool {
	var data []byte
	for line := range bytes.SplitSeq(wire, []byte("\n")) {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, value...), '\n')
			continue
		}
		if len(line) > 0 {
			continue
		}
		var event struct {
			Type  string
			Delta struct {
				Reason any `json:"stop_reason"`
			}
		}
		if json.Unmarshal(data, &event) == nil && event.Type == "message_delta" && event.Delta.Reason != nil &&
			event.Delta.Reason != "" {
			return true
		}
		data = nil
	}
	return false
}
