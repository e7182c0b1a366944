package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

// Arguments as small models write them, and what the tool gets; what is not plain stays for the schema to refuse.
func TestArgumentsAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	box, err := NewRegistry(Config{})
	if err != nil {
		t.Fatal(err)
	}
	whole := Set{Tools: box.Tools}
	for _, tt := range []struct{ tool, args, want string }{
		{"search_documents", `{"query":"roof","max_results":"5"}`, `{"max_results":5,"query":"roof"}`},
		{"search_documents", `{"q":"roof"}`, `{"max_results":10,"query":"roof"}`},
		{"search_documents", `{"keywords":["roof","damp"]}`, `{"max_results":10,"query":"roof damp"}`},
		{"search_documents", `{"query":["roof"]}`, `{"max_results":10,"query":"roof"}`},
		{"search_documents", `{"query":{"type":"string","value":"roof"}}`, `{"max_results":10,"query":"roof"}`},
		{"read_multiple_documents", `{"document_ids":"d1"}`, `{"doc_ids":["d1"]`},
		{"read_multiple_documents", `{"doc_ids":"[\"d1\",\"d2\"]"}`, `{"doc_ids":["d1","d2"]`},
		{"search_documents", `{"query":[7]}`, ""},
		{"search_documents", `{"query":"roof","max_results":"many"}`, ""},
		{"search_documents", `{"query":"roof","q":"damp"}`, ""},
		{"search_documents", `{}`, ""},
	} {
		tool := whole.Find(tt.tool)
		got, err := tool.Normalise(tool.CoerceArgs(json.RawMessage(tt.args)), nil)
		if (err == nil) != (tt.want != "") || !strings.HasPrefix(string(got), strings.TrimSuffix(tt.want, "}")) {
			t.Errorf("%s %s: %s %v, want %s", tt.tool, tt.args, got, err, tt.want)
		}
	}
}
