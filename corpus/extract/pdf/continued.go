package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinContinued joins paragraphs that continue in the next column or on the next page, so that no sentence is cut
// there. Footnotes between the two parts are moved before the paragraph. A block on several pages is thus followed
// by one on a later page, as readers of blocks expect. starts holds the parts that begin a section and continue
// nothing. Joined parts have no lines afterwards. A paragraph is continued only by a later part, at most one page
// after its last line.
func joinContinued(sheets []sheet, grouped [][]part, heads []float32, body float32, starts map[place]bool) {
	var open *part // the last paragraph that may continue, and its place
	var at place
	var right float32 // right edge of the full lines around its last one
	for i := range grouped {
		for j := range grouped[i] {
			p := &grouped[i][j]
			begins := starts[place{i, j}] || p.headingLevel(heads, body) > 0
			switch {
			case begins || p.table != nil:
				open = nil
			case p.lines[0].isNote() || p.aside: // at a column's foot or beside it, between a paragraph and its end
			case open != nil && i-sheets[open.lastLine().sheet].page < 2 && open.continuesIn(p, right):
				if at.page != i { // only notes and turned text follow it on its page
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

// continuesIn reports whether a paragraph continues in a part at the top of another column or page. It continues a
// word or a sentence, in letters of the same style, after a line that is nearly full. right is the right edge of the
// full lines around the last one. Sizes may differ by 8 %, since a page may be scaled. A part that begins in lower
// case continues it even after a line that is only 80 % full. One that begins with a capital needs a completely full
// line and must be prose.
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
	isProse := len(next.lines) > 1 || strings.ContainsAny(lastRune(end), ".!?。！？") // a page header is neither
	return len(p.lines) > 1 && last.x1 > right-last.size && isProse &&
		(unicode.IsLetter(begin) || unicode.IsDigit(begin))
}

// rightEdge returns the upper quartile of the right edges of lines of the same size and column on its page. The rest
// are ends of paragraphs, or exceptions.
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
