package pdf

import (
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// isRaised reports whether what stands in box a is smaller than its neighbour in b, and higher. A mark of a note is set
// in a smaller size above the line. Only boxes tell: to PDFium it is an ordinary digit.
func isRaised(a, b rect) bool {
	return a.boxHeight() < raisedSize*b.boxHeight() && b.y1-a.y1 > raisedBy*b.boxHeight()
}

// Of a raised digit, as shares of the height of the letters beside it.
const (
	raisedSize = 0.85 // its height at most
	raisedBy   = 0.1  // how much higher its lower edge is at least
)

// leavesRaised reports whether a character is the first of raised digits, or the first behind them.
func (r *reader) leavesRaised(c rune, box rect) bool {
	return isRaised(box, r.word.rect) && text.Superscript(string(c)) != string(c) ||
		isRaised(r.word.rect, box) && text.Superscript(string(r.runs)) != string(r.runs)
}

// raiseDigits makes superscript digits of raised ones. Both neighbours are asked, since a mark may stand at the
// beginning of a note or behind a word.
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

// isNote reports whether a line begins with the mark of a note. It is asked after raiseDigits. A lone digit is a page's
// number.
func (l *line) isNote() bool {
	first, _ := utf8.DecodeRuneInString(l.words[0].text)
	return len(l.words) > 1 && text.IsSuperscript(first)
}
