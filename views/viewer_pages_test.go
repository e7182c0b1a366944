package views

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// The words over the picture of a page run as they do in it: from the corner of their box where they begin, along it.
func TestTurnedLinesRunAlongTheirBoxes(t *testing.T) {
	v := &Viewer{Text: []rune("roof")}
	flat, tall := chat.Box{1, 0.25, 0.5, 0.75, 0.55}, chat.Box{1, 0.5, 0.25, 0.55, 0.75}
	const size = ` font-size="46.0000" textLength="500.0000" lengthAdjust="spacingAndGlyphs">roof</text>`
	for _, tt := range []struct {
		turn int
		box  chat.Box
		want string
	}{
		{0, flat, `<text x="250.0000" y="540.0000"` + size},
		{1, tall, `<text x="510.0000" y="250.0000" transform="rotate(90 510.0000 250.0000)"` + size},
		{2, flat, `<text x="750.0000" y="510.0000" transform="rotate(180 750.0000 510.0000)"` + size},
		{3, tall, `<text x="540.0000" y="750.0000" transform="rotate(270 540.0000 750.0000)"` + size},
	} {
		var b strings.Builder
		line := SheetLine{Line: corpus.Line{Start: 0, End: 4, Box: tt.box, Turn: tt.turn}, Until: 4}
		sheet := Sheet{Width: 1000, Height: 1000, Lines: []SheetLine{line}}
		if err := v.drawLines(sheet).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("a line turned by %d quarters is\n%s, want\n%s", tt.turn, b.String(), tt.want)
		}
	}
}
