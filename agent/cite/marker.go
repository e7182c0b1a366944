package cite

import (
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// WithoutMarkers returns a text without its footnotes.
func WithoutMarkers(said string) string {
	var b strings.Builder
	done := 0
	formulas := text.Formulas(said, nil)
	for from := 0; from < len(said); {
		i := strings.IndexAny(said[from:], "[【")
		if i < 0 {
			break
		}
		i += from
		for len(formulas) > 0 && formulas[0].End <= i {
			formulas = formulas[1:]
		}
		if len(formulas) > 0 && formulas[0].Start < i {
			from = formulas[0].End
			continue
		}
		m := text.ReadMarker(said[i:])
		if m.Size == 0 || !text.IsRunning(said[:i]) {
			_, n := utf8.DecodeRuneInString(said[i:])
			from = i + n
			continue
		}
		b.WriteString(strings.TrimRight(said[done:i], " "))
		from = i + m.Size
		done = from
	}
	return b.String() + said[done:]
}
