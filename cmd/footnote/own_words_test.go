package main_test

import (
	"net/http"
	"strings"
	"testing"
)

// withoutQuotes are conversations in which the offline mode speaks for itself: it greets, can't do what is asked,
// calculates, lists, or says what it needs.
var withoutQuotes = []string{
	"Hello", "Thanks!", "Who are you?", "help", "?!", "Tell me more", "Explain that", "What does [9] say?",
	"What is 12 * 7?", "What is 7 / 0?", "Which documents do I have?", "Summarise my documents", "Open Missing.pdf",
	"Translate this into German: The gate must be locked at night.",
	"Rewrite this text: The gate must be locked at night. Dogs are kept on a lead.",
	"Summarise this: The gate must be locked at night. Dogs are kept on a lead. No fire is lit in the yard.",
	"Write a poem about the mill", "What does rule 3 say? → Tell me more → Tell me more → Tell me more → Thanks!",
	"Summarise rules.md → Say it in other words", "Put this in simpler words: Dogs are kept on a lead.",
	"What does rule 2 say? → Translate your answer into German", "Erkläre diesen Text: Der Hund bleibt an der Leine.",
}

// What the offline mode says for itself is no claim about documents: none of it is listed as one without a source.
func TestWhatOfflineSaysForItselfIsNoClaim(t *testing.T) {
	t.Parallel()
	rules := "# Rules of the mill\n\n1. Visitors sign the book at the gate.\n2. Dogs are kept on a lead.\n" +
		"3. No fire is lit in the yard.\n"
	for name, files := range map[string][]file{"nothing": nil, "documents": {{"rules.md", rules}}} {
		t.Run("with "+name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, newDir(t))
			if len(files) > 0 {
				s.add(files...)
			}
			for _, conversation := range withoutQuotes {
				session := ""
				for ask := range strings.SplitSeq(conversation, " → ") {
					log := s.runIn(session, ask)
					session = log.start.SessionID
					if log.answer == nil {
						t.Errorf("%s: %+v", ask, log.done)
					} else if len(log.answer.Unsupported) > 0 {
						t.Errorf("%s\n%s\nlists %q, want none", ask, log.answer.Markdown, log.answer.Unsupported)
					}
				}
			}
			for _, body := range []string{
				`{"question":"Explain this text","context":"The gate is locked at night. Dogs are kept on a lead."}`,
				`{"question":"Who locks the gate?","context":"The gate must be locked at night by the miller."}`,
			} {
				r := s.send("POST", "/agent/query", body)
				got := loose[struct{ Unsupported []string }](t, r.body)
				if r.status != http.StatusOK || len(got.Unsupported) > 0 {
					t.Errorf("%s: %d %s, want nothing unsupported", body, r.status, r.body)
				}
			}
		})
	}
}
