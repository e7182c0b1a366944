package offline

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

func TestMoreIsWhatWasNotSaidYet(t *testing.T) {
	for _, tt := range []struct {
		questions []string
		want      string
	}{
		{[]string{"When was the roof renewed?", "What else?"},
			"> High moisture readings were found in the rear wall of the kitchen. [3]"},
		{[]string{"When was the roof renewed?", "Thanks!", "Go on"},
			"> High moisture readings were found in the rear wall of the kitchen. [3]"},
		{[]string{"Tell me more about it"},
			"Ask a question about your documents first. Then I can go on from its answer."},
		{[]string{"Hello!", "More, please."},
			"Ask a question about your documents first. Then I can go on from its answer."},
		{[]string{"What is the capital of France?", "Tell me more"},
			Refusal + " I searched for “What is the capital of France?” and found nothing that fits."},
	} {
		if got, _ := ask(t, tt.questions...); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s\n got %q\nwant %q", strings.Join(tt.questions, " → "), got, tt.want)
		}
	}
	twice, calls := ask(t, "When was the roof renewed?", "Tell me more", "Go on")
	if len(calls) < 2 || strings.Contains(twice, "1987") || strings.Contains(twice, "High moisture") ||
		!strings.Contains(twice, "serviced") {
		t.Errorf("the third time it says %q after %v; want at least 2 calls, no %q in it, no %q in it, %q in it",
			twice, calls, "1987", "High moisture", "serviced")
	}
	one := []paper{{"d9", "note.txt", "Note", []passage{{Text: "The gate is locked at noon."}}}}
	if got, _ := askIn(t, one, "When is the gate locked?", "Tell me more"); !strings.HasPrefix(got, Refusal) ||
		!strings.HasSuffix(got, "What they say about it was said already.") {
		t.Errorf("with nothing left it says %q; want %q at its beginning and %q at its end",
			got, Refusal, "What they say about it was said already.")
	}
}

func TestAFootnoteIsReadAgain(t *testing.T) {
	read := `{"doc_id":"d1","filename":"S.pdf","title":"Survey","passages":[{"n":3,` +
		`"text":"The roof was renewed in 1987. It has slates. No guarantee is available."}]}`
	history := []llm.Message{
		{Role: llm.RoleUser, Text: "What is on the roof?"}, {Role: llm.RoleAssistant, Text: "It has slates."},
		{Role: llm.RoleUser, Text: "What does [1] say?"},
		{Role: llm.RoleAssistant,
			Calls: []llm.Call{
				{ID: "a", Name: "read_document", Arguments: []byte(`{"doc_id":"d1","focus_query":"It has slates."}`)},
			}},
		{Role: llm.RoleTool, CallID: "a", Text: read},
	}
	if got, want := oneReply(t, history).Text,
		"> The roof was renewed in 1987. [3]\n\n> It has slates. [3]\n\n> No guarantee is available. [3]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for q, want := range map[string]bool{
		"What does footnote 2 mean?": true, "Where does source 1 come from?": true, "Explain [3]": true,
		"Can you show me more of footnote 1?": true, "What else is on page 2 of source 1?": false,
		"What does [1] say about the price?": false, "What is the rent?": false,
	} {
		if aboutFootnote(q) != want {
			t.Errorf("%q is about a footnote alone: %v", q, !want)
		}
	}
}
