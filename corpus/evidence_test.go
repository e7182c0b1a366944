package corpus

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestCheckEvidence(t *testing.T) {
	text := "Über das Dach.\n\nEs ist dicht."
	blocks := []Block{{ID: "b1", Page: 1, Start: 0, End: 14}, {ID: "b2", Page: 2, Start: 16, End: 29}}
	good := chat.EvidenceCitation{
		Number: 1, Title: "T", SHA256: "v1", Page: 2, Start: 16, End: 29, Quote: "Es ist dicht.",
		Check: chat.CheckVerified,
	}
	change := func(f func(*chat.EvidenceCitation)) chat.EvidenceCitation { c := good; f(&c); return c }
	for _, tt := range []struct {
		name     string
		citation chat.EvidenceCitation
		found    bool
		version  string
		want     string
	}{
		{"the words at their place", good, true, "v1", chat.EvidenceVerified},
		{"other words", change(func(c *chat.EvidenceCitation) { c.Quote = "Es ist Licht." }), true, "v1",
			chat.EvidenceChanged},
		{"another place", change(func(c *chat.EvidenceCitation) { c.Start, c.End = 15, 28 }), true, "v1",
			chat.EvidenceChanged},
		{"a place beyond the end", change(func(c *chat.EvidenceCitation) { c.Start, c.End = 16, 999 }), true, "v1",
			chat.EvidenceChanged},
		{"a negative place", change(func(c *chat.EvidenceCitation) { c.Start = -1 }), true, "v1", chat.EvidenceChanged},
		{"another page", change(func(c *chat.EvidenceCitation) { c.Page = 3 }), true, "v1", chat.EvidenceChanged},
		{"another hash", change(func(c *chat.EvidenceCitation) { c.SHA256 = "v0" }), true, "v1", chat.EvidenceChanged},
		{"a new version", good, true, "v2", chat.EvidenceChanged},
		{"no document", good, false, "", chat.EvidenceMissing},
		{"a quote that was never found",
			change(func(c *chat.EvidenceCitation) { c.Check, c.Quote = chat.CheckNotFound, "" }), true, "v1",
			chat.EvidenceMissing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := CheckEvidence(tt.citation, tt.found, tt.version, text, blocks); got.State != tt.want ||
				got.Number != 1 || (got.Detail == "") != (tt.want == chat.EvidenceVerified) {
				t.Errorf("CheckEvidence = %+v, want %s", got, tt.want)
			}
		})
	}
}
