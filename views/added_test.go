package views

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/footnote/footnote/chat"
)

func TestAddedFootnoteIsMarkedWhereverItsQuoteIs(t *testing.T) {
	t.Parallel()
	for _, added := range []bool{false, true} {
		cite := chat.Citation{Number: 1, Title: "Mail", Quote: "The floor is sanded.", Added: added}
		for name, part := range map[string]templ.Component{
			"source": sourceRow(&Turn{}, cite, false),
			"card":   citedInfo(&Viewer{Cited: &Cited{Citation: cite}}),
		} {
			var b strings.Builder
			if err := part.Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), "Added by Footnote"); got != added {
				t.Errorf("%s: got mark %v, want %v: %s", name, got, added, b.String())
			}
		}
		e := evidence(t, "plain")
		e.Citations[0].Added = added
		for _, format := range []string{"md", "html"} {
			file, err := EvidenceFile(e, format)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(file), "Added by"); got != added {
				t.Errorf("evidence as %s: got mark %v, want %v", format, got, added)
			}
		}
	}
}
