package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// Clients ask for a title, tags and further questions of a conversation that they bring along. Without a model, the
// title is its first question and the lists are empty: a quote of a document is none of them.
func TestWhatClientsAskAboutAConversationIsNotLookedForInDocuments(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"survey.md", "# Building survey\n\nThe roof was last repaired in 2021. A title was never found.\n"})
	for body, want := range map[string]string{
		"openwebui-title":      `{"title":"When was the roof last repaired?"}`,
		"librechat-title":      "When was the roof last repaired?",
		"openwebui-tags":       `{"tags":[]}`,
		"openwebui-follow-ups": `{"follow_ups":[]}`,
	} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "server", "testdata", "clients", body+".json"))
		if err != nil {
			t.Fatal(err)
		}
		r := s.send("POST", "/v1/chat/completions", string(raw))
		got := loose[struct {
			Choices []struct{ Message struct{ Content string } }
		}](t, r.body)
		if r.status != http.StatusOK || len(got.Choices) != 1 || got.Choices[0].Message.Content != want {
			t.Errorf("%s: %d %s, want %s", body, r.status, r.body, want)
		}
	}
}
