package cite

import (
	"strings"

	"github.com/footnote/footnote/text/english"
)

// holdPossibleRefusal waits until the text can't become a refusal any more, and writes one exactly as it has to be. A
// refusal has no footnotes. Apostrophes of both kinds are the same here, as models write either.
func (w *Writer) holdPossibleRefusal(final bool) bool {
	trimmed := strings.TrimLeft(w.raw, " \n")
	plain := strings.ReplaceAll(trimmed, "’", "'")
	switch {
	case strings.HasPrefix(plain, english.Refusal):
		w.raw = english.Refusal + strings.TrimPrefix(plain, english.Refusal)
		w.isRefusal = true
		return false
	case final || plain == "":
		return false
	default:
		return strings.HasPrefix(english.Refusal, plain)
	}
}

// IsRefusal reports whether the text is a refusal.
func IsRefusal(text string) bool { return strings.HasPrefix(text, english.Refusal) }
