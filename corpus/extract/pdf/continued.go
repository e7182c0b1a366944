package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinContinued puts the lines of a paragraph that goes on in the next column or on the next page behind its first
// ones, so that no sentence is cut where the paper ends. The footnotes that stand between them come first: the block
// behind one that goes on begins on a later page, which tells readers of blocks that it may. starts says which parts
// begin a section: they continue nothing. Parts that went into others have no lines afterwards. A paragraph is found
// only behind its first part and at most two pages later.
func joinContinued(sheets []sheet, grouped [][]part, heads []float32, body float32, starts map[place]bool) {
	var open *part // the last paragraph that may go on, and where it stands
	var at place
	var right float32 // where the full lines around its last one end
	for i := range grouped {
		for j := range grouped[i] {
			p := &grouped[i][j]
			begins := starts[place{i, j}] || p.headingLevel(heads, body) > 0
			switch {
			case begins || p.table != nil:
				open = nil
			case p.lines[0].isNote() || p.aside: // at a column's foot or beside it, between a paragraph and its end
			case open != nil && i-sheets[open.lastLine().sheet].page < 2 && open.continuesIn(p, right):
				if at.page != i { // all that stands behind it on its page are notes and turned texts
					notes := grouped[at.page][at.part:]
					whole := *open
					copy(notes, notes[1:])
					at.part = len(grouped[at.page]) - 1
					open = &grouped[at.page][at.part]
					*open = whole
				}
				right = rightEdge(grouped[i], p.lastLine())
				open.lines = append(open.lines, p.lines...)
				p.lines = nil
			case p.lines[0].mono:
				open = nil
			default:
				open, at = p, place{i, j}
				right = rightEdge(grouped[i], p.lastLine())
			}
		}
	}
}

// continuesIn reports whether a paragraph goes on in a part at the head of another column or page: in the middle of a
// word or of a sentence, in letters of the same kind, behind a line that is full or nearly so. right is where the full
// lines around its last one end. Sizes may differ by 8 %, since a page may be scaled. A part that begins in lower case
// goes on whatever is full; one that begins with a capital only if the line before is full to its edge and the part is
// prose.
func (p *part) continuesIn(next *part, right float32) bool {
	last, first := p.lastLine(), next.lines[0]
	if next.item != nil || first.mono || first.bold != last.bold ||
		first.sheet == last.sheet && first.y0 >= last.y0 || // below it: another paragraph of the column
		max(first.size, last.size)-min(first.size, last.size) > 0.08*max(first.size, last.size) ||
		strings.ContainsAny(lastRune(last), ".!?:;。！？：；") || isContentsEntry(last) {
		return false
	}
	begin, _ := utf8.DecodeRuneInString(first.words[0].text)
	switch {
	case last.hyphen:
		return true
	case unicode.IsLower(begin):
		return last.x1 > right-0.2*(right-last.x0)
	}
	end := next.lines[len(next.lines)-1]
	isProse := len(next.lines) > 1 || strings.ContainsAny(lastRune(end), ".!?。！？") // a page's head is neither
	return len(p.lines) > 1 && last.x1 > right-last.size && isProse &&
		(unicode.IsLetter(begin) || unicode.IsDigit(begin))
}

// rightEdge returns where three quarters of the lines above and below a line of its page end, those of its size: the
// rest are ends of paragraphs, or stand out.
func rightEdge(parts []part, l line) float32 {
	var ends []float32
	for i := range parts {
		for _, other := range parts[i].lines {
			if other.sheet == l.sheet && roundSize(other.size) == roundSize(l.size) && parts[i].table == nil &&
				doOverlap(other.x0, other.x1, l.x0, l.x1) {
				ends = append(ends, other.x1)
			}
		}
	}
	slices.Sort(ends)
	if len(ends) == 0 {
		return l.x1
	}
	return ends[len(ends)*3/4]
}
