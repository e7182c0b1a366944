package views

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/locale"
)

func TestNamesInListsAndHeadingsAreCutAndCanNotTurnTheirLine(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for name, got := range map[string]string{
		"session":  sessionTitle(t.Context(), chat.Session{Title: long}),
		"document": documentTitle(corpus.Document{Title: long}),
		"file":     documentTitle(corpus.Document{Filename: long}),
	} {
		if n := utf8.RuneCountInString(got); n > maxName {
			t.Errorf("%s: %d characters, want at most %d", name, n, maxName)
		}
	}
	if got, want := documentTitle(corpus.Document{Filename: "a\u202efdp.exe\u2066b"}),
		"a\uFFFDfdp.exe\uFFFDb"; got != want {
		t.Errorf("a name with marks that turn the line = %q, want %q", got, want)
	}
	if n := len(citeLabel(t.Context(), chat.Citation{Number: 1, Title: long})); n > maxName+100 {
		t.Errorf("a chip's label has %d bytes, want at most %d", n, maxName+100)
	}
	failed := &Turn{Error: &chat.StepError{Message: "\u202e" + long}}
	got := failed.reason(t.Context(), locale.Text{})
	if utf8.RuneCountInString(got) > 2000 || strings.Contains(got, "\u202e") {
		t.Errorf("a reason of %d characters, %.20q; want at most 2000 and no %q in it",
			utf8.RuneCountInString(got), got, "\u202e")
	}
	step := &Step{Step: chat.Step{Thought: strings.Repeat(long, 10)}}
	var b strings.Builder
	if err := stepBody(step).Render(t.Context(), &b); err != nil || b.Len() > 2*maxShown {
		t.Errorf("a thought of 100,000 characters: %d bytes, %v; want at most %d", b.Len(), err, 2*maxShown)
	}
}
