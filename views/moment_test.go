package views

import (
	"strings"
	"testing"
)

func TestTheTimesOfASentenceAreInUTCWithoutAScript(t *testing.T) {
	for _, tt := range []struct{ sentence, want string }{
		{"Nothing to wait for.", "Nothing to wait for."},
		{"You can ask again at 2026-03-02T01:00:00Z.",
			`You can ask again <time datetime="2026-03-02T01:00:00Z" data-as="when">on 2 March at 01:00 UTC</time>.`},
		{"It is 2026-03-02T01:00:00Z",
			`It is <time datetime="2026-03-02T01:00:00Z" data-as="when">on 2 March at 01:00 UTC</time>`},
		{"The file <at 2026-99-99T99:99:99Z> is no time.", "The file &lt;at 2026-99-99T99:99:99Z&gt; is no time."},
	} {
		var b strings.Builder
		if err := Said(tt.sentence).Render(t.Context(), &b); err != nil || b.String() != tt.want {
			t.Errorf("%q:\n got %q, %v\nwant %q", tt.sentence, b.String(), err, tt.want)
		}
	}
}
