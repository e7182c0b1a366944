package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A conversation without a model: every question rests on the answer before it.
func TestOfflineGoesOnFromWhatWasSaid(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books[0])
	for _, turn := range [][2]string{
		{"What is the condition of the roof?",
			"Found in your documents:\n\n> The roof of the mill is in poor condition. " +
				"Several slates are missing on its north slope. [1]"},
		{"Tell me more", "> The damp in the kitchen comes from a blocked gutter above the rear wall. [1]"},
		{"What does footnote 1 say?", "> The damp in the kitchen comes from a blocked gutter above the rear wall. [1]"},
		{"Show me the survey.md document", "> The roof of the mill is in poor condition. [1]"},
		{"Translate this: The roof is good", "I can't put a text in other words: that needs a language model"},
	} {
		r := s.send(
			"POST", "/agent/chat",
			fmt.Sprintf(`{"message":%q,"session_id":"offline-talk","citation_style":"numeric"}`, turn[0]),
		)
		if got := loose[struct{ Response string }](t, r.body); r.status != http.StatusOK ||
			!strings.HasPrefix(got.Response, turn[1]) {
			t.Errorf("%s: %d %q, want %q", turn[0], r.status, got.Response, turn[1])
		}
	}
	r := s.send(
		"POST", "/agent/chat",
		`{"message": "Explain this in simple terms", "session_id": "test_session_2", `+
			`"context_text": "The ZMP is the point where forces balance..."}`,
	)
	const want = "This is what it says:\n\n> The ZMP is the point where forces balance..."
	got := loose[struct{ Response string }](t, r.body).Response
	if r.status != http.StatusOK || !strings.Contains(got, want) {
		t.Errorf("a given text: %d %q; want %d and %q in it", r.status, got, http.StatusOK, want)
	}
}
