package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestReadsWholeReply(t *testing.T) {
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

// A server like Gemini's refuses a call of the history that does not carry the signature it was sent with.
func TestReturnsThoughtSignatures(t *testing.T) {
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
		history(signed, okCall("b", "x", "{}")),                 // as Gemini sends calls that are made at the same time
		history(okCall("a", "x", "{}"), okCall("b", "x", "{}")), // calls that the program made
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

func TestTooManyCallsAreRefused(t *testing.T) {
	var wire bytes.Buffer
	for i := range maxCalls + 1 {
		n := strconv.Itoa(i)
		wire.WriteString(data(call(`{"index":` + n + `,"id":"c` + n + `","function":{"name":"x","arguments":"{}"}}`)))
	}
	if got := play(t, &wire, llm.Request{}); got.Err != llm.KindProtocol {
		t.Errorf("error kind = %q, want %q", got.Err, llm.KindProtocol)
	}
}
