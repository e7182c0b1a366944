package anthropic

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

// canned answers every request with the same stream.
type canned []byte

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(c)),
	}, nil
}

// Whatever bytes come: no panic, and no reply that counts as complete unless its bytes hold an event with a reason to
// stop.
func FuzzNoStreamIsCompleteWithoutProof(f *testing.F) {
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
			t.Errorf("complete without proof: %q", wire)
		}
		if got.Err != "" && (got.Finish != "" || len(got.Calls) > 0) {
			t.Errorf("an end and an error: %+v", got)
		}
		for _, c := range got.Calls {
			var object map[string]any
			if c.Malformed == "" && (json.Unmarshal(c.Arguments, &object) != nil || object == nil) {
				t.Errorf("a call with the arguments %q may run", c.Arguments)
			}
		}
		if got.Err == "" && got.Finish == llm.FinishStop && got.Text == "" {
			t.Errorf("an empty reply is complete: %q", wire)
		}
	})
}

// proved reads an event stream the plain way and reports whether one of its events has a reason to stop.
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
