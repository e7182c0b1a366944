package llm

import "testing"

func TestToolNamed(t *testing.T) {
	t.Parallel()
	names := []string{
		"search_documents", "read_document", "read_multiple_documents", "list_documents", "calculate", "web_search",
	}
	for said, want := range map[string]string{
		"search_documents": "search_documents", "functions.search_documents": "search_documents",
		"default_api.search_documents": "search_documents",
		"Search_Documents":             "search_documents", "searchDocuments": "search_documents",
		"search-document": "search_documents", "search documents": "search_documents",
		"`search_documents`": "search_documents", "search": "search_documents", "Calculate": "calculate",
		"read": "", "documents": "", "delete": "", "": "", "s": "", "search_document_delete": "", "web": "web_search",
	} {
		if got := ToolNamed(said, names); got != want {
			t.Errorf("%q is %q, want %q", said, got, want)
		}
	}
	if got := ToolNamed("a_b", []string{"a-b", "ab"}); got != "" {
		t.Errorf("a name that may be two is %q, want nothing", got)
	}
}
