package main_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

// An answer from a given text is checked against it: a contradicting sentence is listed as unsupported, and lowers
// the confidence.
func TestAnswerContradictingGivenTextIsUnsupported(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		said        string
		unsupported []string
		confidence  float64
	}{
		{"The sky is green on Mars.", []string{}, 0.8},
		{"The sky is blue on Mars.", []string{"The sky is blue on Mars."}, 0},
		{"The sky is not green on Mars.", []string{"The sky is not green on Mars."}, 0},
	} {
		m := newModel(t, scripted.Config{Script: func(scripted.Request) scripted.Reply { return saying(tt.said) }})
		s := serve(t, newDir(t), m.env()...)
		r := s.send(
			"POST", "/agent/chat",
			`{"message":"What colour is the sky on Mars?","context_text":"The sky is green on Mars"}`,
		)
		got := loose[struct {
			Response    string
			Unsupported []string
			Confidence  float64
		}](t, r.body)
		if r.status != http.StatusOK || !slices.Equal(got.Unsupported, tt.unsupported) ||
			got.Confidence != tt.confidence {
			t.Errorf("%q: %d, unsupported %q, confidence %v; want %q, %v: %s", tt.said, r.status, got.Unsupported,
				got.Confidence, tt.unsupported, tt.confidence, r.body)
		}
	}
}
