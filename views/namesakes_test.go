package views

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

func TestConversationsOfOneNameAreToldApart(t *testing.T) {
	now := time.Date(2024, 3, 12, 18, 0, 0, 0, time.UTC)
	at := func(day, hour, minute, second int) time.Time {
		return time.Date(2024, 3, day, hour, minute, second, 0, time.UTC)
	}
	sessions := []chat.Session{
		{ID: "alone", Title: "What did the new roof cost?", UpdatedAt: at(12, 17, 0, 0)},
		{ID: "first", Title: "Summarise this", UpdatedAt: at(12, 14, 5, 9)},
		{ID: "same minute", Title: "Summarise this", UpdatedAt: at(12, 14, 5, 40)},
		{ID: "same second", Title: "Summarise this", UpdatedAt: at(12, 14, 5, 9)},
		{ID: "earlier", Title: "Summarise this", UpdatedAt: at(3, 9, 30, 1)},
		{ID: "long", Title: "Which worktop did Leila take, and who connects it?", UpdatedAt: at(12, 8, 0, 0)},
		{ID: "as long", Title: "Which worktop did Leila take, or was it Samir?", UpdatedAt: at(11, 8, 0, 0)},
		{ID: "unnamed", UpdatedAt: at(1, 0, 0, 0)},
	}
	got := map[string]string{}
	for id, n := range namesakes(sessions) {
		got[id] = strings.TrimSpace(n.form() + " " + n.words(t.Context(), now) + " " + n.number())
	}
	want := map[string]string{
		"first": "second 14:05:09 (2)", "same second": "second 14:05:09",
		"same minute": "second 14:05:40", "earlier": "minute 3 Mar 09:30",
		"long": "minute 08:00", "as long": "minute 11 Mar 08:00",
	}
	if !maps.Equal(got, want) {
		t.Errorf("told apart by %q, want %q", got, want)
	}
}
