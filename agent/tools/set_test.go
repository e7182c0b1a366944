package tools

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
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
		{"strategy", "search_documents read_multiple_documents list_documents",
			"hybrid_search read_document metadata_search"},
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

// The page, the API and the log of a stored run know a tool by its label alone.
func TestToolsOfACapabilityHaveALabel(t *testing.T) {
	t.Parallel()
	all, err := NewRegistry(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, set := range all.Toolsets {
		for _, tool := range set.Tools {
			switch l := tool.Label; {
			case l == nil:
				if tool.Capability != "" {
					t.Errorf("%s: %s has no label, want one", name, tool.Name)
				}
			case l.Doing == "" || l.Done == "":
				t.Errorf("%s: %s has the label %+v, want both tenses", name, tool.Name, *l)
			case l.Argument != "" && tool.Schema.Schema().Properties[l.Argument] == nil:
				t.Errorf("%s: %s has no argument %q, want the one of its label", name, tool.Name, l.Argument)
			case (l.Form == chat.LabelQuote || l.Form == chat.LabelCode) && l.Argument == "":
				t.Errorf("%s: the label of %s names no argument, want the words it is about", name, tool.Name)
			}
		}
	}
}
