package text

import "github.com/footnote/footnote/text/lazy"

// Footnote matches references to footnotes by number in a question, as "[2]" or as "footnote 2", in English and
// German. The number is the first or the second group.
var Footnote = lazy.Regexp(
	`(?i)\[(\d{1,3})\]|\b(?:citation|footnote|source|reference|fußnote|quelle)s?\s*(?:no\.?|nr\.?|number|` +
		`#)?\s*(\d{1,3})\b`,
)
