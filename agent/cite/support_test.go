package cite

import (
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
)

// A text of quotes is split at its quotes, not at the ends of sentences in them.
func TestTextOfQuotesIsSupported(t *testing.T) {
	t.Parallel()
	sources := NewSources()
	for _, tt := range []struct {
		said  string
		check chat.Check
		want  []string // the claims that are supported
	}{
		{"THE TEST … [1] After some time it becomes frozen. [2]", chat.CheckVerified,
			[]string{"THE TEST …", "After some time it becomes frozen."}},
		{"Found:\n\n> THE  \n> TEST … [1]\n\n- After some\n  time it becomes frozen. [2]", chat.CheckVerified,
			[]string{"THE TEST …", "After some time it becomes frozen."}},
		{"> 2. First  \n> 3. \\*Second\\*. Third\\[1\\] [3]", chat.CheckVerified,
			[]string{"2. First 3. *Second*. Third[1]"}},
		{"> | Item | Cost |\n> |---|---|\n> | 1. Roof | \\*£5 [4] |", chat.CheckVerified, []string{"1. Roof | *£5"}},
		{"THE TEST … [1] After some time it becomes frozen. [2]", chat.CheckApproximate, nil},
		{"THE TEST … [1] After some time it never becomes frozen. [2]", chat.CheckVerified, nil},
		{"It is not said that THE TEST … [1]", chat.CheckVerified, nil},
		{"THE TEST … [1] is over.", chat.CheckVerified, nil},
		{"After some time it becomes frozen. [5]", chat.CheckVerified, nil},
	} {
		cite := NewCiter(sources, nil, "")
		cite.Citations = []chat.Citation{
			{Number: 1, Quote: "THE TEST …", Check: tt.check},
			{Number: 2, Quote: "After some time\nit becomes frozen.", Check: tt.check},
			{Number: 3, Quote: "2. First\n\n3. *Second*. Third[1]", Check: tt.check},
			{Number: 4, Quote: "1. Roof | *£5", Check: tt.check},
		}
		e := NewEvidence(sources, cite, chat.RunRequest{})
		var got []string
		for _, c := range e.ClaimsOf(tt.said) {
			if e.IsSupported(c) {
				got = append(got, c.Text)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%q with %s quotes: %q is supported, want %q", tt.said, tt.check, got, tt.want)
		}
	}
}
