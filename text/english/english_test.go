package english

import (
	"testing"
)

func TestCountsAreSingularAndGrouped(t *testing.T) {
	for _, tt := range []struct {
		n          int
		noun, want string
	}{
		{0, "question", "0 questions"}, {1, "question", "1 question"}, {2, "question", "2 questions"},
		{1, "search", "1 search"}, {3, "match", "3 matches"}, {2, "summary", "2 summaries"},
		{999, "file", "999 files"}, {1000, "file", "1,000 files"}, {1_234_567, "token", "1,234,567 tokens"},
		{-100, "step", "-100 steps"}, {-1000, "step", "-1,000 steps"},
	} {
		if got := Count(tt.n, tt.noun); got != tt.want {
			t.Errorf("Count(%d, %q) = %q, want %q", tt.n, tt.noun, got, tt.want)
		}
	}
}

func TestLanguageList(t *testing.T) {
	for _, tt := range []struct {
		codes []string
		want  string
	}{
		{nil, ""}, {[]string{"de"}, "German"}, {[]string{"de", "pl"}, "German and Polish"},
		{[]string{"zh", "ja", "ko"}, "Chinese, Japanese and Korean"}, {[]string{"?"}, "?"},
	} {
		if got := Languages(tt.codes); got != tt.want {
			t.Errorf("Languages(%q) = %q, want %q", tt.codes, got, tt.want)
		}
	}
}
