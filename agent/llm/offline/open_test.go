package offline

import (
	"strings"
	"testing"
)

func TestADocumentThatIsNamedIsOpened(t *testing.T) {
	for _, q := range []string{
		"What is in handbook.md?", "Show me handbook.md", "Read handbook.md", "Please open the file “handbook.md”.",
		"What does handbook.md say?",
		"Open handbook.md", "Show me the handbook.md document", "Can you view the document handbook.md?",
	} {
		answer, calls := ask(t, q)
		if len(calls) != 1 || calls[0].Name != "get_document_summary" ||
			!strings.Contains(string(calls[0].Arguments), `"handbook.md"`) ||
			!strings.Contains(answer, "28 days of paid holiday") {
			t.Errorf("%s: %v, %q; want 1 call, %q, %q in it",
				q, calls, answer, "get_document_summary", "28 days of paid holiday")
		}
	}
	if k, id := classify("What's in document ID 123?"); k != kindOpening || id != "123" {
		t.Errorf("an id opens %q, want %q", id, "123")
	}
	for _, q := range []string{
		"Show me the roof", "What is in the kitchen?", "What does handbook.md say about remote work?", "Read it",
	} {
		if k, about := classify(q); k == kindOpening {
			t.Errorf("%s opens %q", q, about)
		}
	}
	if answer, calls := ask(t, "Open the Staff manual"); len(calls) < 2 || calls[1].Name != "search_documents" {
		t.Errorf("a title that is not there: %v, %q; want at least 2 calls and %q", calls, answer, "search_documents")
	}
	read := `{"doc_id":"d2","filename":"handbook.md","title":"Staff handbook","passages":[{"n":1,` +
		`"text":"Every employee is entitled to 28 days of paid holiday a year."}]}`
	offered := []string{"read_document", "search_documents"}
	if calls, _ := replyTo(t, "Show me handbook.md", offered, nil); len(calls) != 1 ||
		calls[0] != `read_document {"doc_id":"handbook.md"}` {
		t.Errorf("without summaries it calls %q; want 1 call and %q", calls, `read_document {"doc_id":"handbook.md"}`)
	}
	if _, said := replyTo(t, "Show me handbook.md", offered, map[string]string{
		"read_document:1": read,
	}); !strings.Contains(said, "28 days of paid holiday a year. [1]") {
		t.Errorf("without summaries it says %q, want %q in it", said, "28 days of paid holiday a year. [1]")
	}
}
