package api

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestRelevanceSaysATitleOnce(t *testing.T) {
	got := relevanceOf(chat.Citation{Title: "Survey", Section: "Survey › Roof", Check: chat.CheckVerified})
	if want := "Quoted word for word from Survey › Roof"; got != want {
		t.Errorf("relevance = %q, want %q", got, want)
	}
}
