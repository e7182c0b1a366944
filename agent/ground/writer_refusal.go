package ground

import "strings"

// RefusalSentence is how an answer begins when the documents do not hold one. It is the one refusal of an answer:
// prompts quote it, IsRefusal knows it, and clients get it word for word.
const RefusalSentence = "I couldn't find relevant information about that in your documents."

// holdPossibleRefusal waits until the text can't become a refusal any more, and writes one exactly as it has to be. A
// refusal has no footnotes. Apostrophes of both kinds are the same here, as models write either.
func (w *Writer) holdPossibleRefusal(final bool) bool {
	trimmed := strings.TrimLeft(w.raw, " \n")
	plain := strings.ReplaceAll(trimmed, "’", "'")
	switch {
	case strings.HasPrefix(plain, RefusalSentence):
		w.raw = RefusalSentence + strings.TrimPrefix(plain, RefusalSentence)
		w.isRefusal = true
		return false
	case final || plain == "":
		return false
	default:
		return strings.HasPrefix(RefusalSentence, plain)
	}
}

// IsRefusal reports whether the text is a refusal.
func IsRefusal(text string) bool { return strings.HasPrefix(text, RefusalSentence) }
