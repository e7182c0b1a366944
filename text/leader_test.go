package text_test

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/text"
)

func TestLeader(t *testing.T) {
	for _, tt := range []struct {
		line string
		want bool
	}{
		{"12.2.3 Wiki . . . . . . . . . 55", true},
		{"12.2.3 Wiki .................... 55", true},
		{"Preface · · · · · · · · · iv", true},
		{"13.1 How can I become a member? . . . . . .", true},
		{"Name ________________", true},
		{"He waited . . . .", false},
		{"And so on...", false},
		{"The roof was renewed in 1987", false},
		{"See www.example.org/a.b.c.d.e.f 12", false},
		{". . . . . . . 12", false},
		{"55", false},
		{"", false},
	} {
		if got := text.Leader(tt.line); got != tt.want {
			t.Errorf("Leader(%q) = %v, want %v", tt.line, got, tt.want)
		}
	}
}

func TestAContentsLineIsOneSentence(t *testing.T) {
	const contents = "12.2 Wiki . . . . . . . . 55\n12.3 How do I join? . . . . . . 56\n12.4 Rules ........ 57\nThe " +
		"wiki is open. It is read."
	want := []string{
		"12.2 Wiki . . . . . . . . 55", "12.3 How do I join? . . . . . . 56", "12.4 Rules ........ 57",
		"The wiki is open.", "It is read.",
	}
	var got []string
	for _, r := range text.Sentences(contents) {
		got = append(got, contents[r[0]:r[1]])
	}
	if !slices.Equal(got, want) {
		t.Errorf("sentences = %q, want %q", got, want)
	}
}
