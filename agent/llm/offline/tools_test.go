package offline

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/footnote/footnote/text/english"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm"
)

// replyTo returns the model's next step with the offered tools, after calls with these results in one turn.
func replyTo(t *testing.T, question string, offered []string, done map[string]string) (calls []string, said string) {
	t.Helper()
	req := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: question}}}
	for _, name := range offered {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: name})
	}
	if len(done) > 0 {
		asked := llm.Message{Role: llm.RoleAssistant}
		var results []llm.Message
		for _, tool := range offered { // in this order
			for id, out := range done {
				if strings.HasPrefix(id, tool+":") {
					asked.Calls = append(asked.Calls, llm.Call{
						ID: id, Name: tool, Arguments: json.RawMessage(`{"query":"` + id + `","doc_id":"handbook.md"}`),
					})
					results = append(results, llm.Message{Role: llm.RoleTool, CallID: id, Text: out})
				}
			}
		}
		req.Messages = append(append(req.Messages, asked), results...)
	}
	for part, err := range New(nil, nil).Stream(t.Context(), req) {
		if err != nil {
			t.Fatal(err)
		}
		switch p := part.(type) {
		case llm.Call:
			calls = append(calls, p.Name+" "+string(p.Arguments))
		case llm.Text:
			said += string(p)
		case llm.Quoted:
			said += p.Marker()
		}
	}
	return calls, said
}

func TestOfferedToolsAreUsed(t *testing.T) {
	t.Parallel()
	const leave = "How many days of paid holiday are there?"
	passages := `{"results":[{"n":4,"doc_id":"d2","filename":"Handbook.md","title":"Staff handbook",` +
		`"content":"Every employee is entitled to 28 days of paid holiday a year.","score":1}]}`
	chunks := `{"results":[{"n":2,"page_title":"Staff handbook","section_heading":null,` +
		`"chunk_text":"Every employee is entitled to 28 days of paid holiday a year.","similarity_score":0.9,` +
		`"rank":1}]}`
	none := `{"results":[],"total_results":0}`
	for _, tt := range []struct {
		name    string
		offered []string
		done    map[string]string
		want    []string // calls
		said    string   // else part of the text
	}{
		{"retrieve", []string{"finish", "lookup", "retrieve"}, nil,
			[]string{`retrieve {"query":"How many days of paid holiday are there?"}`}, ""},
		{"hybrid before semantic", []string{"semantic_search", "hybrid_search"}, nil,
			[]string{`hybrid_search {"query":"How many days of paid holiday are there?"}`}, ""},
		{"lookup reads", []string{"retrieve", "lookup"}, map[string]string{"retrieve:1": passages},
			[]string{`lookup {"doc_id":"d2","query":"How many days of paid holiday are there?"}`}, ""},
		{"passages without a reader", []string{"retrieve"}, map[string]string{"retrieve:1": passages}, nil,
			"a year. [4]"},
		{"chunks of documentation", []string{"retrieve_documentation"},
			map[string]string{"retrieve_documentation:1": chunks}, nil, "a year. [2]"},
		{"without a threshold when nothing was found", []string{"semantic_search"},
			map[string]string{"semantic_search:1": none},
			[]string{`semantic_search {"min_score":0,"query":"days paid holiday"}`}, ""},
		{"no tool at all", nil, nil, nil, english.Refusal},
	} {
		calls, said := replyTo(t, leave, tt.offered, tt.done)
		if diff := cmp.Diff(tt.want, calls); diff != "" || !strings.Contains(said, tt.said) {
			t.Errorf("%s: said %q; calls (-want +got):\n%s", tt.name, said, diff)
		}
	}
}

func TestParallelSearchesCountAsOneAttempt(t *testing.T) {
	t.Parallel()
	one := result{tool: "retrieve", round: 1}
	list := func(ids ...string) output {
		var out output
		for _, id := range ids {
			out.Results = append(out.Results, found{N: len(out.Results) + 1, DocID: id, Content: "x"})
		}
		return out
	}
	two := one
	one.out, two.out = list("a", "b", "c"), list("d", "a", "e")
	later := result{tool: "retrieve_more", round: 3, out: list("f")}
	tn := turn{results: []result{one, two, {tool: "lookup", round: 2}, later}}
	var got []string
	for _, d := range tn.found() {
		got = append(got, d.DocID)
	}
	if diff := cmp.Diff([]string{"a", "d", "b", "c", "e", "f"}, got); diff != "" || tn.rounds(isSearch) != 2 ||
		len(tn.lastRound()) != 1 {
		t.Errorf("%d rounds; documents (-want +got):\n%s", tn.rounds(isSearch), diff)
	}
}

func TestNamedDocumentIsOpened(t *testing.T) {
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
		t.Errorf("reply without summaries = %q, want %q in it", said, "28 days of paid holiday a year. [1]")
	}
}
