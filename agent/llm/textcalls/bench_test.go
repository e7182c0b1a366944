package textcalls

import (
	"context"
	"encoding/json"
	"iter"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

// told is a model that says the same parts each time.
type told struct {
	llm.Model
	parts []llm.Part
}

func (m told) Stream(context.Context, llm.Request) iter.Seq2[llm.Part, error] {
	return func(yield func(llm.Part, error) bool) {
		for _, p := range m.parts {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// BenchmarkStream reads an answer of 300 pieces, one of 20 of them a footnote's bracket: what looking for thoughts and
// calls in it costs.
func BenchmarkStream(b *testing.B) {
	words := []string{
		"The", " roof", " covering", " is", " in", " poor", " condition", " [", "1", "]", ".", " Sev", "eral",
		" slates", " are", " missing", " on", " the", " north", " slope",
	}
	var parts []llm.Part
	for i := range 300 {
		parts = append(parts, llm.Text(words[i%len(words)]))
	}
	var tools []llm.ToolSpec
	for _, name := range []string{
		"search_documents", "read_document", "list_documents", "calculate", "get_document_summary",
	} {
		tools = append(tools, llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)})
	}
	for _, way := range []Way{Native, Auto} {
		b.Run(string(way), func(b *testing.B) {
			m := New(told{parts: append(parts, llm.Done{Finish: llm.FinishStop})}, way)
			m.verdict.inFavour()
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range m.Stream(b.Context(), llm.Request{Tools: tools}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
