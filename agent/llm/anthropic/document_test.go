package anthropic

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// TestReadsWholeReply reads replies of a server that ignores “stream” and answers with one JSON document.
func TestReadsWholeReply(t *testing.T) {
	t.Parallel()
	const whole = `{"id":"m","type":"message","role":"assistant","model":"claude","content":[` +
		`{"type":"thinking","thinking":"hm","signature":"signed"},{"type":"redacted_thinking","data":"sealed"},` +
		`{"type":"text","text":"Hel"},{"type":"text","text":"lo"},` +
		`{"type":"tool_use","id":"a","name":"x","input":{"q":1}},{"type":"tool_use","id":"b","name":"y","input":{}}],` +
		`"stop_reason":"tool_use","stop_sequence":null,` +
		`"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":4}}`
	for _, tt := range []struct {
		name, body string
		want       played
	}{
		{"a whole reply", whole, played{
			Text: "Hello", Reasoning: "hm", Signature: `[{"thinking":"hm","signature":"signed"},{"redacted":"sealed"}]`,
			Calls: []llm.Call{
				{ID: "a", Name: "x", Arguments: []byte(`{"q":1}`)}, {ID: "b", Name: "y", Arguments: []byte(`{}`)},
			}, Finish: llm.FinishCalls, Usage: &llm.Usage{In: 5, Out: 4},
		}},
		{"no stop reason", `{"type":"message","content":[{"type":"text","text":"Hel"}],"usage":{}}`,
			played{Text: "Hel", Err: llm.KindIncomplete}},
		{"cut off", whole[:len(whole)/2], played{Err: llm.KindProtocol}},
		{"no reply", `{"status":"ok"}`, played{Err: llm.KindProtocol}},
	} {
		m, _ := serve(t, Config{}, scripted.Reply{Fault: scripted.Fault{
			Raw: []byte(tt.body), RawType: "application/json; charset=utf-8",
		}})
		got, failed := hear(t, m, hello)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.name, failed, diff)
		}
	}
}
