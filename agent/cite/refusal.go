package cite

import (
	"strings"

	"github.com/footnote/footnote/text/english"
)

// bufferPossibleRefusal buffers the text while it may still become a refusal, and normalises the refusal sentence. A
// refusal has no footnotes. Both kinds of apostrophe match, since models write either.
func (w *Writer) bufferPossibleRefusal(final bool) bool {
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
