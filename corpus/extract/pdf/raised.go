package pdf

import (
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// isRaised reports whether box a is superscript relative to its neighbour b: smaller, and higher. PDFium returns a
// note's marker as an ordinary digit, so that only the boxes show it.
func isRaised(a, b rect) bool {
	return a.boxHeight() < raisedSize*b.boxHeight() && b.y1-a.y1 > raisedBy*b.boxHeight()
}

// Thresholds for a raised digit, as shares of the height of the letters beside it.
const (
	raisedSize = 0.85 // its maximum height
	raisedBy   = 0.1  // the minimum distance of its lower edge above theirs
)

// leavesRaised reports whether a character is the first of raised digits, or the first after them.
func (r *reader) leavesRaised(c rune, box rect) bool {
	return isRaised(box, r.word.rect) && text.Superscript(string(c)) != string(c) ||
		isRaised(r.word.rect, box) && text.Superscript(string(r.runs)) != string(r.runs)
}

// raiseDigits replaces raised digits with superscript characters. It checks both neighbours, since a marker may be
// at the start of a note or after a word.
func (l *line) raiseDigits() {
	for i := range l.words {
		w := &l.words[i]
		for _, k := range []int{i - 1, i + 1} {
			if k < 0 || k >= len(l.words) || w.size >= raisedSize*l.words[k].size {
				continue
			}
			if isRaised(w.rect, l.words[k].rect) {
				w.text = text.Superscript(w.text)
			}
		}
	}
}

// isNote reports whether a line begins with the marker of a note. It must be called after raiseDigits. A lone digit
// is a page number.
func (l *line) isNote() bool {
	first, _ := utf8.DecodeRuneInString(l.words[0].text)
	return len(l.words) > 1 && text.IsSuperscript(first)
}
