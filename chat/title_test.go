package chat

import (
	"strings"
	"testing"
)

func TestTitleOf(t *testing.T) {
	t.Parallel()
	sixty := strings.Repeat("word ", 11) + "fives" // 55 + 5 runes
	for _, tt := range []struct{ name, question, want string }{
		{"a short question is its own title", "What is RRF?", "What is RRF?"},
		{"white space is collapsed", "  What \t is\u00a0RRF?  ", "What is RRF?"},
		{"only the first line that is not blank counts", "\n \nFirst\nSecond", "First"},
		{"exactly 60 runes are kept", sixty, sixty},
		{"a 61st rune drops its whole word", sixty + "x", strings.Repeat("word ", 10) + "word…"},
		{"a word that ends at the limit is kept", sixty + " more", sixty + "…"},
		{"a script without spaces is cut at 60 runes", strings.Repeat("漢", 70), strings.Repeat("漢", 60) + "…"},
		{"a blank question has no title", " \n\t", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := TitleOf(tt.question); got != tt.want {
				t.Errorf("TitleOf(%q) = %q, want %q", tt.question, got, tt.want)
			}
		})
	}
}
