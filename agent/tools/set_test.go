package tools

import (
	"slices"
	"strings"
	"testing"
)

func TestToolsOfACapabilityStandInForEachOther(t *testing.T) {
	t.Parallel()
	all, err := NewRegistry(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ set, names, want string }{
		{"cursor", "search_documents read_document grep_documents", "search_documents read_document grep_documents"},
		{"react", "search_documents read_multiple_documents get_document_summary", "retrieve lookup summarize"},
		{"strategy", "search_documents read_multiple_documents list_documents", "hybrid_search read_document metadata_search"},
		{"documentation", "search_documents read_document", "retrieve_documentation"},
		{"strategy", "grep_documents web_search calculate rerank_documents unknown", ""},
		{"react", "read_document read_multiple_documents", "lookup"},
	} {
		got := all.Toolsets[tt.set].Available(strings.Fields(tt.names))
		if want := strings.Fields(tt.want); !slices.Equal(got, want) {
			t.Errorf("%s has for %s: %v, want %v", tt.set, tt.names, got, want)
		}
	}
}
