package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/e2e/scripted"
)

// played is the output of a stream for a consumer: text and reasoning joined, calls, and the end or the error.
type played struct {
	Text, Reasoning string
	Dropped         string
	Calls           []llm.Call
	Finish          llm.Finish
	Usage           *llm.Usage
	Err             llm.ErrorKind
	Code            string
}

func newTestModel(t *testing.T, c Config) *Model {
	t.Helper()
	c.Model, c.Log = "m", slog.New(slog.DiscardHandler)
	if c.BaseURL == "" {
		c.BaseURL = "http://127.0.0.1:1/v1"
	}
	m, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func play(t *testing.T, r io.Reader, req llm.Request) played {
	t.Helper()
	m := newTestModel(t, Config{})
	ctx, dog := httpllm.Watch(t.Context(), m.patience)
	defer dog.Stop()
	dog.Body = r
	var got played
	reply := &reply{m: m, req: req, dog: dog, events: newEvents(dog), yield: func(p llm.Part, _ error) bool {
		got.take(p)
		return true
	}}
	if err := reply.readEvents(ctx); err != nil {
		got.Err, got.Code, got.Usage = err.Kind, err.Code, err.Usage
		if err.Shown != (got.Text != "") {
			t.Errorf("Shown = %v with text %q, want %v", err.Shown, got.Text, (got.Text != ""))
		}
	}
	return got
}

func (p *played) take(part llm.Part) {
	switch part := part.(type) {
	case llm.Text:
		p.Text += string(part)
	case llm.Reasoning:
		p.Reasoning += string(part)
	case llm.Dropped:
		p.Dropped += part.Text
	case llm.Call:
		p.Calls = append(p.Calls, part)
	case llm.Done:
		p.Finish, p.Usage = part.Finish, part.Usage
	}
}

func data(events ...string) string {
	return "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"
}

func text(s string) string {
	return `{"choices":[{"index":0,"delta":{"content":` + strconv.Quote(s) + `},"finish_reason":null}]}`
}

func fin(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func call(piece string) string { return `{"choices":[{"delta":{"tool_calls":[` + piece + `]}}]}` }

const done = "[DONE]"

func okCall(id, name, arguments string) llm.Call {
	return llm.Call{ID: id, Name: name, Arguments: []byte(arguments)}
}

var helloStop = played{Text: "Hello", Finish: llm.FinishStop}

var streams = []struct {
	name string
	wire string
	end  error // the reader's final error; nil for a clean end
	req  llm.Request
	want played
}{
	{name: "a plain reply", wire: data(text("Hel"), text("lo"), fin("stop"), done), want: helloStop},
	{name: "choices in turns: the first one alone is read", want: helloStop, wire: data(text("Hel"),
		`{"choices":[{"index":1,"delta":{"content":"Bonj"}}]}`, `{"choices":[{"delta":{"content":"Ho"},"index":2}]}`,
		text("lo"), `{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}`, fin("stop"), done)},
	{name: "what a provider sends along with a call is kept",
		wire: data(call(`{"index":0,"id":"a","extra_content":{"google":{"thought_signature":"Eio="}},`+
			`"function":{"name":"x","arguments":"{}"}}`), fin("tool_calls"), done),
		want: played{Finish: llm.FinishCalls, Calls: []llm.Call{{
			ID: "a", Name: "x", Arguments: []byte("{}"), Extra: []byte(`{"google":{"thought_signature":"Eio="}}`),
		}}}},
	{name: "row 1: a clean end before any finish is incomplete", wire: data(text("Hello")),
		want: played{Text: "Hello", Err: llm.KindIncomplete}},
	{name: "row 1: nothing at all is incomplete", wire: "", want: played{Err: llm.KindIncomplete}},
	{name: "row 2: an end inside an event is incomplete", wire: data(text("Hello")) + `data: {"choices":[{"del`,
		want: played{Text: "Hello", Err: llm.KindIncomplete}},
	{name: "row 2: an end without the last blank line is incomplete",
		wire: data(text("Hello")) + "data: " + fin("stop") + "\n",
		want: played{Text: "Hello", Err: llm.KindIncomplete}},
	{name: "row 3: a reset in the middle is incomplete", wire: data(text("Hello")), end: io.ErrUnexpectedEOF,
		want: played{Text: "Hello", Err: llm.KindIncomplete}},
	{name: "row 4: a finish without [DONE] is complete", wire: data(text("Hello"), fin("stop")), want: helloStop},
	{name: "row 4: a reset after the finish does no harm", wire: data(text("Hello"), fin("stop")),
		end: io.ErrUnexpectedEOF, want: helloStop},
	{name: "row 4: what follows [DONE] is not read", wire: data(text("Hello"), fin("stop"), done, text("no")),
		want: helloStop},
	{name: "row 4: [DONE] needs no blank line", wire: data(text("Hello")) + "data: [DONE]\n", want: helloStop},
	{name: "row 4: [DONE] needs no line end", wire: data(text("Hello")) + "data: [DONE]", want: helloStop},
	{name: "row 5: an empty finish is none, [DONE] proves the end", wire: data(text("Hello"), fin(""), done),
		want: helloStop},
	{name: "row 5: an empty finish alone proves nothing", wire: data(text("Hello"), fin("")),
		want: played{Text: "Hello", Err: llm.KindIncomplete}},
	{name: "row 5: a usage that stands alone proves the end",
		wire: data(text("Hello"), `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`),
		want: played{Text: "Hello", Finish: llm.FinishStop, Usage: &llm.Usage{In: 3, Out: 2}}},
	{name: "row 5: usage beside text proves nothing",
		wire: data(`{"choices":[{"delta":{"content":"Hello"}}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`),
		want: played{Text: "Hello", Err: llm.KindIncomplete}},
	{name: "row 7: comments are ignored",
		wire: ": ping\n\n" + data(text("Hel")) + ":\n\n: keepalive\n" + data(text("lo"), fin("stop"), done),
		want: helloStop},
	{name: "row 8: empty and odd keepalives are skipped",
		wire: "data: : keepalive\n\ndata:\n\nevent: keepalive\n\ndata\n\n" + data(text("Hello"), fin("stop"), done),
		want: helloStop},
	{name: "row 9: CRLF", wire: strings.ReplaceAll(data(text("Hel"), text("lo"), fin("stop"), done), "\n", "\r\n"),
		want: helloStop},
	{name: "row 9: lone CR", wire: strings.ReplaceAll(data(text("Hel"), text("lo"), fin("stop"), done), "\n", "\r"),
		want: helloStop},
	{name: "row 9: all three mixed",
		wire: "data: " + text("Hel") + "\r\n\rdata: " + text("lo") + "\n\r\n" + data(fin("stop"), done),
		want: helloStop},
	{name: "row 10: no space after the colon",
		wire: strings.ReplaceAll(data(text("Hello"), fin("stop"), done), "data: ", "data:"), want: helloStop},
	{name: "row 10: data of many lines",
		wire: "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"Hello\"}}]}\n\n" + data(fin("stop"), done),
		want: helloStop},
	{name: "row 10: data of many lines with CRLF",
		wire: "data: {\"choices\":[{\"delta\":\r\ndata: {\"content\":\"Hello\"}}]}\r\n\r\n" + data(fin("stop"), done),
		want: helloStop},
	{name: "row 11: runes of several bytes", wire: data(text("日本"), text("語 é 👍"), fin("stop"), done),
		want: played{Text: "日本語 é 👍", Finish: llm.FinishStop}},
	{name: "row 11: a rune split over two chunks",
		wire: data("{\"choices\":[{\"delta\":{\"content\":\"a\xf0\x9f\"}}]}",
			"{\"choices\":[{\"delta\":{\"content\":\"\x91\x8db\"}}]}", fin("stop"), done),
		want: played{Text: "a👍b", Finish: llm.FinishStop}},
	{name: "row 11: a rune that the end cuts is not shown",
		wire: data(text("Hello"), "{\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\"}}]}"),
		want: played{Text: "Hello", Err: llm.KindIncomplete}},
	{name: "row 11: a reply of half a rune",
		wire: data("{\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f\"}}]}", fin("stop"), done),
		want: played{Text: "\ufffd", Finish: llm.FinishStop}},
	{name: "escapes and surrogate pairs",
		wire: data(`{"choices":[{"delta":{"content":"a\n\"\\\/\t\u00e9\ud83d\udc4d"}}]}`, fin("stop"), done),
		want: played{Text: "a\n\"\\/\té👍", Finish: llm.FinishStop}},
	{name: "row 12: a byte order mark loses nothing", wire: "\xef\xbb\xbf" + data(text("Hello"), fin("stop"), done),
		want: helloStop},
	{name: "row 14: an error in the stream", wire: data(text("Hel"), `{"error":{"message":"boom","code":503}}`),
		want: played{Text: "Hel", Err: llm.KindServer, Code: "503"}},
	{name: "row 14: an error beside choices",
		wire: data(`{"choices":[{"delta":{"content":""}}],"error":{"message":"no such field","code":400}}`),
		want: played{Err: llm.KindInvalid, Code: "400"}},
	{name: "row 14: a limit in the stream", wire: data(`{"error":{"message":"slow down","code":429}}`),
		want: played{Err: llm.KindRateLimited, Code: "429"}},
	{name: "row 14: finish error", wire: data(text("Hel"), fin("error"), done),
		want: played{Text: "Hel", Err: llm.KindServer, Code: "error"}},
	{name: "row 15: vLLM's error object",
		wire: data(
			`{"object":"error","message":"The prompt is too long: maximum context length is 4096",` +
				`"type":"BadRequestError","code":400}`,
		), want: played{Err: llm.KindTooLong, Code: "400"}},
	{name: "row 15: a bare string", wire: data(`"overloaded"`), want: played{Err: llm.KindServer}},
	{name: "row 15: a string as the error", wire: data(`{"error":"overloaded"}`), want: played{Err: llm.KindServer}},
	{name: "row 15: an event named error",
		wire: "event: error\ndata: {\"message\":\"boom\",\"type\":\"server_error\"}\n\n",
		want: played{Err: llm.KindServer, Code: "server_error"}},
	{name: "row 16: a null error is none",
		wire: data(`{"error":null,"choices":[{"delta":{"content":"Hello"}}]}`, fin("stop"), done), want: helloStop},
	{name: "row 17: bytes without an event", wire: "<html>\n<body>hello</body>\n", want: played{Err: llm.KindProtocol}},
	{name: "an event that is not JSON", wire: data(text("Hel"), `{"choices":[{"delta":{"content":"l`),
		want: played{Text: "Hel", Err: llm.KindProtocol}},
	{name: "row 18: a first chunk without choices",
		wire: data(`{"choices":[],"prompt_filter_results":[{"x":1}]}`, text("Hello"), fin("stop"), done),
		want: helloStop},
	{name: "row 19: odd values",
		wire: data(`{"created":1.5e9,"choices":[{"index":0}]}`,
			`{"choices":[{"delta":null},{"delta":{"content":"second"}}]}`,
			`{"choices":[{"delta":{"content":null,"role":"assistant"}}]}`,
			`{"choices":[{"delta":{"content":[{"type":"text","text":"Hel"},{"type":"text","text":"lo"}]}}]}`,
			fin("stop"),
			done), want: helloStop},
	{name: "row 20: the last usage wins",
		wire: data(`{"choices":[{"delta":{"content":"Hello"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
			fin("stop"), `{"usage":{"prompt_tokens":5,"completion_tokens":9}}`, done),
		want: played{Text: "Hello", Finish: llm.FinishStop, Usage: &llm.Usage{In: 5, Out: 9}}},
	{name: "row 20: a null usage is absent",
		wire: data(text("Hello"), `{"choices":[{"finish_reason":"stop","delta":{}}],"usage":null}`, done),
		want: helloStop},
	{name: "row 22: calls without index",
		wire: data(call(`{"id":"a","function":{"name":"x","arguments":"{\"q\":"}}`),
			call(`{"function":{"arguments":"1}"}}`), call(`{"id":"b","function":{"name":"y","arguments":"{}"}}`),
			fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "x", `{"q":1}`), okCall("b", "y", `{}`)}, Finish: llm.FinishCalls}},
	{name: "row 23: index 0 for every call",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`),
			call(`{"index":0,"id":"b","function":{"name":"x","arguments":"{}"}}`), fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "x", `{}`), okCall("b", "x", `{}`)}, Finish: llm.FinishCalls}},
	{name: "row 24: a continuation on another index joins the only call",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":""}}`),
			call(`{"index":1,"function":{"arguments":"{\"q\":1}"}}`), fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "x", `{"q":1}`)}, Finish: llm.FinishCalls}},
	{name: "row 24: a continuation of no call is refused",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x"}},{"index":1,"id":"b","function":{"name":"y"}}`),
			call(`{"index":7,"function":{"arguments":"{}"}}`), fin("tool_calls"), done),
		want: played{Err: llm.KindProtocol}},
	{name: "row 25: wild indexes", wire: data(call(`{"index":-1,"id":"a","function":{"name":"x","arguments":"{}"}}`),
		call(`{"index":9223372036854775807,"id":"b","function":{"name":"y","arguments":"{}"}}`),
		call(`{"index":1e300,"id":"c","function":{"name":"z","arguments":"{}"}}`), fin("tool_calls"), done),
		want: played{
			Calls:  []llm.Call{okCall("a", "x", `{}`), okCall("b", "y", `{}`), okCall("c", "z", `{}`)},
			Finish: llm.FinishCalls,
		}},
	{name: "row 26: the id repeated in each chunk",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"q\""}}`),
			call(`{"index":0,"id":"a","function":{"arguments":":1}"}}`), fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "x", `{"q":1}`)}, Finish: llm.FinishCalls}},
	{name: "row 27: ids missing and equal",
		wire: data(
			call(
				`{"index":0,"function":{"name":"x","arguments":"{}"}},{"index":1,"id":"a","function":{"name":"y",`+
					`"arguments":"{}"}},{"index":2,"id":"a","function":{"name":"z","arguments":"{}"}}`,
			), fin("tool_calls"), done,
		),
		want: played{
			Calls: []llm.Call{
				okCall("call_0_0_0", "x", `{}`), okCall("a", "y", `{}`), okCall("call_0_2_0", "z", `{}`),
			},
			Finish: llm.FinishCalls,
		}},
	{name: "row 27: an id of an earlier turn is made unique",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), fin("tool_calls"), done),
		req: llm.Request{
			Messages: []llm.Message{{Role: llm.RoleAssistant, Calls: []llm.Call{okCall("a", "x", "{}")}}},
		},
		want: played{Calls: []llm.Call{okCall("call_1_0_0", "x", `{}`)}, Finish: llm.FinishCalls}},
	{name: "two calls of one tool without ids",
		wire: data(call(`{"index":0,"function":{"name":"x","arguments":"{\"q\":1}"}}`),
			call(`{"index":0,"function":{"name":"x","arguments":"{\"q\":2}"}}`), fin("tool_calls"), done),
		want: played{
			Calls:  []llm.Call{okCall("call_0_0_0", "x", `{"q":1}`), okCall("call_0_1_0", "x", `{"q":2}`)},
			Finish: llm.FinishCalls,
		}},
	{name: "row 28: the name repeated",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"terminal","arguments":"{"}}`),
			call(`{"index":0,"function":{"name":"terminal","arguments":"}"}}`), fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "terminal", `{}`)}, Finish: llm.FinishCalls}},
	{name: "row 29: the arguments sent again",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"q\":"}}`),
			call(`{"index":0,"function":{"arguments":"1}"}}`),
			call(`{"index":0,"function":{"arguments":"{\"q\": 1}"}}`),
			call(`{"index":0,"function":{"arguments":"\"{\\\"q\\\":1}\""}}`), fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "x", `{"q":1}`)}, Finish: llm.FinishCalls}},
	{name: "row 30: empty arguments",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":""}}`), fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "x", `{}`)}, Finish: llm.FinishCalls}},
	{name: "row 31: malformed arguments do not run",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"q\":"}}`), fin("tool_calls"), done),
		want: played{
			Calls: []llm.Call{
				{ID: "a", Name: "x", Arguments: []byte("{}"),
					Malformed: `the arguments are not valid JSON (unexpected end of JSON input): {"q":`},
			}, Finish: llm.FinishCalls,
		}},
	{name: "row 32: a string that holds the object, and an object",
		wire: data(
			call(
				`{"index":0,"id":"a","function":{"name":"x","arguments":"\"{\\\"q\\\":1}\""}},{"index":1,"id":"b",`+
					`"function":{"name":"y","arguments":{"q":2}}}`,
			), fin("tool_calls"), done,
		),
		want: played{
			Calls: []llm.Call{okCall("a", "x", `{"q":1}`), okCall("b", "y", `{"q":2}`)}, Finish: llm.FinishCalls,
		}},
	{name: "row 32: an array is malformed",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"[1]"}}`), fin("tool_calls"), done),
		want: played{
			Calls: []llm.Call{
				{ID: "a", Name: "x", Arguments: []byte("{}"), Malformed: `the arguments must be a JSON object: [1]`},
			}, Finish: llm.FinishCalls,
		}},
	{name: "row 34: no call of a cut reply runs",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), fin("length"), done),
		want: played{
			Calls:  []llm.Call{{ID: "a", Name: "x", Arguments: []byte("{}"), Malformed: cutOff}},
			Finish: llm.FinishLength,
		}},
	{name: "row 34: cut at the limit but reported as calls",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), fin("tool_calls"),
			`{"usage":{"prompt_tokens":1,"completion_tokens":50}}`, done), req: llm.Request{MaxTokens: 50},
		want: played{
			Calls:  []llm.Call{{ID: "a", Name: "x", Arguments: []byte("{}"), Malformed: cutOff}},
			Finish: llm.FinishLength, Usage: &llm.Usage{In: 1, Out: 50},
		}},
	{name: "row 35: calls with finish stop",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), fin("stop"), done),
		want: played{Calls: []llm.Call{okCall("a", "x", `{}`)}, Finish: llm.FinishCalls}},
	{name: "row 36: a filter", wire: data(text("Hel"), fin("content_filter"), done),
		want: played{Text: "Hel", Finish: llm.FinishFilter}},
	{name: "row 36: a refusal", wire: data(`{"choices":[{"delta":{"refusal":"No."}}]}`, fin("stop"), done),
		want: played{Text: "No.", Finish: llm.FinishRefusal}},
	{name: "row 36: an unknown finish", wire: data(text("Hello"), fin("moon"), done),
		want: played{Text: "Hello", Finish: llm.FinishOther}},
	{name: "row 37: a name with a channel",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"search<|channel|>commentary","arguments":"{}"}}`),
			fin("tool_calls"), done),
		want: played{Calls: []llm.Call{okCall("a", "search", `{}`)}, Finish: llm.FinishCalls}},
	{name: "row 39: a tool call its server could not read",
		wire: data(`{"error":{"message":"Failed to call a function","code":"tool_use_failed"}}`),
		want: played{Err: llm.KindBadCall, Code: "tool_use_failed"}},
	{name: "row 41: reasoning alone is no answer",
		wire: data(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, fin("stop"), done),
		want: played{Reasoning: "hm", Err: llm.KindEmpty}},
	{name: "row 41: reasoning, then the end", wire: data(`{"choices":[{"delta":{"reasoning":"hm"}}]}`),
		want: played{Reasoning: "hm", Err: llm.KindIncomplete}},
	{name: "row 42: an empty reply", wire: data(fin("stop"), done), want: played{Err: llm.KindEmpty}},
	{name: "row 42: an empty reply that was counted",
		wire: data(fin("stop"), `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20}}`, done),
		want: played{Err: llm.KindEmpty, Usage: &llm.Usage{In: 100, Out: 20}}},
	{name: "row 42: [DONE] alone", wire: data(done), want: played{Err: llm.KindEmpty}},
	{name: "calls where only text was asked for are dropped",
		wire: data(text("Hello"), call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`),
			fin("tool_calls"), done), req: llm.Request{NoTools: true},
		want: played{Text: "Hello", Dropped: "x {}\n", Finish: llm.FinishStop}},
	{name: "calls alone where only text was asked for",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), fin("tool_calls"), done),
		req:  llm.Request{NoTools: true}, want: played{Dropped: "x {}\n", Err: llm.KindEmpty}},
	{name: "calls of a filtered reply are dropped",
		wire: data(call(`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`), fin("content_filter"), done),
		want: played{Dropped: "x {}\n", Finish: llm.FinishFilter}},
}

const cutOff = "the reply was truncated at its token limit before the call was complete"

func TestStreamFaults(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			for _, way := range []struct {
				name string
				wrap func(io.Reader) io.Reader
			}{
				{"whole", func(r io.Reader) io.Reader { return r }}, {"one byte at a time", iotest.OneByteReader},
				{"data with the end", iotest.DataErrReader},
			} {
				var wire io.Reader = strings.NewReader(tt.wire)
				if tt.end != nil {
					wire = io.MultiReader(wire, iotest.ErrReader(tt.end))
				}
				if diff := cmp.Diff(tt.want, play(t, way.wrap(wire), tt.req)); diff != "" {
					t.Errorf("read %s (-want +got):\n%s", way.name, diff)
				}
			}
		})
	}
}

func TestEventOverLimitIsRejected(t *testing.T) {
	for name, wire := range map[string]string{
		"in one line":   "data: " + strings.Repeat("x", maxEvent+100),
		"in many lines": strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", maxEvent/1000+10),
	} {
		if got := play(t, strings.NewReader(wire), llm.Request{}); got.Err != llm.KindProtocol {
			t.Errorf("%s: error kind = %q, want %q", name, got.Err, llm.KindProtocol)
		}
	}
}

func TestNonStreamedReplyIsParsed(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",` +
		`"content":"Hello","refusal":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"x",` +
		`"arguments":"{\"q\":1}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`
	for name, body := range map[string]string{
		"whole": whole, "indented": strings.ReplaceAll(whole, ",", ",\n\t"),
	} {
		m, _ := serve(t, Config{}, scripted.Reply{Fault: scripted.Fault{
			Raw: []byte(body), RawType: "application/json; charset=utf-8",
		}})
		got, failed := ask(t, m, hello)
		want := played{
			Text: "Hello", Finish: llm.FinishCalls, Calls: []llm.Call{okCall("a", "x", `{"q":1}`)},
			Usage: &llm.Usage{In: 3, Out: 4},
		}
		if diff := cmp.Diff(want, got); diff != "" || failed != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", name, failed, diff)
		}
	}
	for name, body := range map[string]string{
		"cut off": whole[:len(whole)/2], "no reply": `{"status":"ok"}`,
	} {
		m, _ := serve(t, Config{}, scripted.Reply{Fault: scripted.Fault{
			Raw: []byte(body), RawType: "application/json",
		}})
		if got, _ := ask(t, m, hello); got.Err != llm.KindProtocol || got.Text != "" {
			t.Errorf("%s: got %+v, want an error of the protocol", name, got)
		}
	}
}

// A server like Gemini's refuses a call of the history without its original signature.
func TestThoughtSignaturesAreReturned(t *testing.T) {
	t.Parallel()
	var signatures [][]string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct {
				Calls []struct {
					Extra struct {
						Google struct {
							Signature string `json:"thought_signature"`
						} `json:"google"`
					} `json:"extra_content"`
				} `json:"tool_calls"`
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		var got []string
		missing := false
		for _, msg := range body.Messages {
			for i, c := range msg.Calls {
				got = append(got, c.Extra.Google.Signature)
				missing = missing || i == 0 && c.Extra.Google.Signature == ""
			}
		}
		signatures = append(signatures, got)
		if missing {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `[{"error":{"code":400,"message":"Function call is missing a `+
				`thought_signature in `+
				`functionCall parts.","status":"INVALID_ARGUMENT"}}]`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, data(text("Hello"), fin("stop"), done))
	}))
	t.Cleanup(web.Close)
	m := newTestModel(t, Config{BaseURL: web.URL})
	signed := okCall("a", "x", "{}")
	signed.Extra = []byte(`{"google":{"thought_signature":"Eio="}}`)
	history := func(calls ...llm.Call) llm.Request {
		messages := append(slices.Clone(hello.Messages), llm.Message{Role: llm.RoleAssistant, Calls: calls})
		for _, c := range calls {
			messages = append(messages, llm.Message{Role: llm.RoleTool, CallID: c.ID, Text: "r"})
		}
		return llm.Request{Messages: messages}
	}
	for _, req := range []llm.Request{
		history(signed, okCall("b", "x", "{}")),                 // as Gemini sends concurrent calls
		history(okCall("a", "x", "{}"), okCall("b", "x", "{}")), // calls of the program
	} {
		if got, err := ask(t, m, req); err != nil || got.Text != "Hello" {
			t.Errorf("got %+v, %v; want Hello", got, err)
		}
	}
	want := [][]string{{"Eio=", ""}, {"", ""}, {noSignature, ""}}
	if diff := cmp.Diff(want, signatures); diff != "" {
		t.Errorf("signatures of the requests (-want +got):\n%s", diff)
	}
}

func TestCallLimit(t *testing.T) {
	var wire bytes.Buffer
	for i := range maxCalls + 1 {
		n := strconv.Itoa(i)
		wire.WriteString(data(call(`{"index":` + n + `,"id":"c` + n + `","function":{"name":"x","arguments":"{}"}}`)))
	}
	if got := play(t, &wire, llm.Request{}); got.Err != llm.KindProtocol {
		t.Errorf("error kind = %q, want %q", got.Err, llm.KindProtocol)
	}
}

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

// narrow passes a body on one byte at a time, whatever the network's chunks.
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

// Every stream gives the same result through a real server and a real client.
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
				// a call without an id gets one by its place in the history
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

// A stream is incomplete until its end, even if all events are valid: truncated anywhere, it yields an error last
// and no call.
func TestTruncatedReplyIsIncomplete(t *testing.T) {
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
