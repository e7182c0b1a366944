package ground

import (
	"testing"

	"footnote/chat"
)

// A heading without a stop runs into the sentence behind it; both are quotes, but of different sentences.
func TestWhatIsOnlyQuotesIsSupported(t *testing.T) {
	t.Parallel()
	sources := NewSources()
	for _, tt := range []struct {
		said  string
		check chat.Check
		want  bool
	}{
		{"THE TEST … [1] After some time it becomes frozen. [2]", chat.CheckVerified, true},
		{"THE TEST … [1] After some time it becomes frozen. [2]", chat.CheckApproximate, false},
		{"THE TEST … [1] After some time it never becomes frozen. [2]", chat.CheckVerified, false},
		{"After some time it becomes frozen. [3]", chat.CheckVerified, false},
	} {
		cite := NewCiter(sources, nil, "")
		cite.Citations = []chat.Citation{
			{Number: 1, Quote: "THE TEST …", Check: tt.check}, {Number: 2, Quote: "After some time\nit becomes frozen.",
				Check: tt.check},
		}
		e := NewEvidence(sources, cite, chat.RunRequest{})
		all := e.ClaimsOf(tt.said)
		if len(all) != 1 || e.IsSupported(all[0]) != tt.want {
			t.Errorf("%q with %s quotes: got %+v, want it supported: %v", tt.said, tt.check, all, tt.want)
		}
	}
}
