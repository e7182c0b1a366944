package english

import "testing"

func TestLanguagesAreNamedInASentence(t *testing.T) {
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
