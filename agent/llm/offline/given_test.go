package offline

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

func TestAGivenTextIsRetoldInItsOwnWords(t *testing.T) {
	reply := func(question string) string {
		return oneReply(t, []llm.Message{
			{Role: llm.RoleUser, Text: question},
			{Role: llm.RoleAssistant,
				Calls: []llm.Call{{ID: "context", Name: "read_document", Arguments: []byte(`{"doc_id":"context"}`)}}},
			{Role: llm.RoleTool, CallID: "context",
				Text: `{"doc_id":"context","passages":[{"n":1,` +
					`"text":"The ZMP is the point where forces balance... It matters when walking."}]}`},
		}).Text
	}
	for _, q := range []string{
		"Explain this in simple terms", "Summarise the text", "What does this mean?",
		"Please rewrite this passage in plain language",
	} {
		if got := reply(q); !strings.HasPrefix(got, unable) ||
			!strings.HasSuffix(got, "The ZMP is the point where forces balance... It matters when walking.") {
			t.Errorf("%s: %q; want %q at its beginning and %q at its end",
				q, got, unable, "The ZMP is the point where forces balance... It matters when walking.")
		}
	}
	if got := reply("Explain the rent"); strings.HasPrefix(got, unable) {
		t.Errorf("what asks for something in the text: %q", got)
	}
}

func TestATextOfOnesOwnIsNotSearchedFor(t *testing.T) {
	for _, q := range []string{
		"Translate this: The roof is good", "Rewrite the following text in simple words:\nThe roof is good.",
		"Summarise the following text: The ZMP is the point where forces balance.",
		"Summarise: The ZMP is the point where forces balance. It is used for walking robots.",
		"Please translate into German: The roof of the house is old and has to be renewed.",
	} {
		if got, calls := ask(t, q); len(calls) > 0 || !strings.HasPrefix(got, unable) {
			t.Errorf("%s: %q after %v; want no calls and %q at its beginning", q, got, calls, unable)
		}
	}
	for _, q := range []string{
		"Summarise: survey.md", "Summarise the survey of the house: its roof, its heating and its damp walls",
		"Summarise: what the survey says about the roof and the damp",
	} {
		if got, calls := ask(t, q); len(calls) == 0 {
			t.Errorf("%s: %q, and nothing was searched for", q, got)
		}
	}
}
