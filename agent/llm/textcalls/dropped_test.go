package textcalls

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/e2e/scripted"
)

// TestDroppedTextIsYielded checks that filters yield all text that is neither answer nor call, as thought or Dropped.
func TestDroppedTextIsYielded(t *testing.T) {
	t.Parallel()
	type parts struct{ Said, Thought, Dropped string }
	const call = `<tool_call>{"name": "search_documents", "arguments": {"query": "roof"}}</tool_call>`
	native := llm.Call{ID: "1", Name: "search_documents", Arguments: json.RawMessage(`{"query":"roof"}`)}
	forced := llm.Request{Messages: ask.Messages, Tools: tools, NoTools: true}
	for _, tt := range []struct {
		name, text string
		way        Way
		req        llm.Request
		calls      []llm.Call
		want       parts
	}{
		{"a turn of the user", "It is poor.<|im_end|>\n<|im_start|>user\nAnd the damp?<|im_end|>\nNone.", Auto, ask,
			nil,
			parts{"It is poor.", "", "<|im_end|>\n<|im_start|>user\nAnd the damp?<|im_end|>\nNone."}},
		{"a written call where none can be made", "It is poor.\n" + call, Auto, forced, nil,
			parts{"It is poor.\n", "", "search_documents {\"query\":\"roof\"}\n"}},
		{"a written call alone where none can be made", call, Auto, forced, nil,
			parts{"", "", "search_documents {\"query\":\"roof\"}\n"}},
		{"a call where none can be made", "It is poor.", Auto, forced, []llm.Call{native},
			parts{"It is poor.", "", "search_documents {\"query\":\"roof\"}\n"}},
		{"more calls than a turn may make", "[" + strings.Repeat(`{"name":"read_document","arguments":{}},`, 21) + "]",
			Auto, ask, nil, parts{"", "", "read_document {}\n"}},
		{"fields beside an answer", `{"answer": "It is poor.", "thought": "I know.", "sources": ["Survey"]}`, JSON, ask,
			nil, parts{"It is poor.", "", `{"sources":["Survey"],"thought":"I know."}`}},
		{"numbers beside an answer", `{"answer": "It is poor.", "sources": [1]}`, JSON, ask, nil,
			parts{"It is poor. [1]", "", ""}},
		{"text behind an answer", "```json\n{\"answer\": \"It is poor.\"}\n```\nThe damp is worse.", JSON, ask, nil,
			parts{"It is poor.\n\nThe damp is worse.", "", ""}},
		{"text before an answer", `<tool_call>I know. {"name": "finish", "arguments": {"answer": "It is poor."}}`, Auto,
			ask, nil, parts{"It is poor.", "I know.", ""}},
		{"the analysis of harmony",
			"<|channel|>analysis<|message|>I know.<|end|><|start|>assistant<|channel|>final<|message|>It is poor.",
			Auto, ask, nil, parts{"It is poor.", "I know.", ""}},
		{"a call that can't be read", `<tool_call>{"name": "search_documents", "arguments": {"query": "ro`, Auto, ask,
			nil, parts{"", "", `<tool_call>{"name": "search_documents", "arguments": {"query": "ro`}},
		{"a call that can't be read behind one", `<tool_call>{"name": "search_docu`, Auto, ask, []llm.Call{native},
			parts{"", "", `<tool_call>{"name": "search_docu`}},
	} {
		for way, chunks := range map[string][]string{
			"whole": {tt.text}, "a byte at a time": strings.Split(tt.text, ""),
		} {
			m := New(scripted.New(scripted.Reply{Chunks: chunks, Calls: tt.calls}), tt.way)
			var got parts
			for part := range m.Stream(t.Context(), tt.req) {
				switch p := part.(type) {
				case llm.Text:
					got.Said += string(p)
				case llm.Reasoning:
					got.Thought += string(p)
				case llm.Dropped:
					got.Dropped += p.Text
					if p.Message == "" {
						t.Errorf("%s, %s: dropped %q, want a message with it", tt.name, way, p.Text)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", tt.name, way, diff)
			}
		}
	}
}
