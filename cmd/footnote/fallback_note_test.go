package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/e2e/scripted"
)

func TestAnswerNamesFallbackModel(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{Fault: scripted.Fault{Status: http.StatusInternalServerError}}
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(books[0])
	for _, path := range []string{"/agent/chat", "/agent/chat/structured"} {
		r := s.send("POST", path, `{"message":"What is the condition of the roof?"}`)
		if notes := loose[struct{ Notes []string }](t, r.body).Notes; r.status != http.StatusOK || len(notes) != 1 ||
			!strings.HasSuffix(notes[0], "continuing with offline.") {
			t.Errorf("%s: %d %s, want %d", path, r.status, r.body, http.StatusOK)
		}
	}
}
