package pdf

import (
	"cmp"
	"slices"
)

// Gaps as shares of the font size.
const (
	wideGap   = 1.2  // more than any space between words
	narrowGap = 0.36 // more than most: enough between columns whose gap is wide in most rows
)

// table is a sequence of lines whose words are in columns. Columns are detected by the gaps between them. PDFs
// hardly ever mark tables. A line that is drawn between two cells makes a gap as wide as any.
type table struct {
	rows    []line
	columns []float32 // the middle of each gap between two columns
	size    int       // number of lines
}

// hasWideGap reports whether a line has a gap that is wider than any space between words.
func (l *line) hasWideGap() bool {
	for i := 1; i < len(l.words); i++ {
		if l.hasGapBefore(i) {
			return true
		}
	}
	return false
}

// findTable returns the table that begins with lines[0]; ok is false without one. A table has at least two rows and
// two columns, and at least two rows with a wide gap. Lines are added while gaps remain that run through all of
// them, and the number of columns doesn't fall. Rows must also follow at a plausible distance in letters of similar
// size. Entries of a table of contents and prose in columns are not tables.
func findTable(lines []line) (t table, ok bool) {
	if t, ok = growTable(lines); !ok || t.size < 3 {
		return t, ok
	}
	// A page's header above a table is no row of it: it hides columns, or is apart from the rows in another size.
	first, second := &t.rows[0], &t.rows[1]
	step, pitch := second.y1-first.y1, t.rows[2].y1-second.y1
	if step > 2.2*pitch || step > 1.5*pitch && !closeTo(first.size, second.size, 0.05*second.size) {
		return t, false
	}
	if t.size == 3 {
		return t, true
	}
	below, found := growTable(lines[1:])
	return t, !found || !slices.ContainsFunc(below.columns, first.runsAcross)
}

// runsAcross reports whether words of a line are on both sides of a position without a gap for a column there.
func (l *line) runsAcross(x float32) bool {
	from := 0
	for i := range l.words {
		if i+1 < len(l.words) && !l.hasGapBefore(i+1) {
			continue
		}
		if i > from && l.words[from].x0 < x && x < l.words[i].x1 {
			return true
		}
		from = i + 1
	}
	return false
}

// growTable returns the table of as many lines as possible; see findTable.
func growTable(lines []line) (t table, ok bool) {
	if !lines[0].hasWideGap() && (len(lines) < 2 || !lines[1].hasWideGap() || len(lines[0].words) < 2) {
		return t, false
	}
	wide := 0
	if isContentsEntry(lines[0]) {
		return t, false
	}
	for n := 1; n <= len(lines); n++ {
		l := lines[n-1]
		if isContentsEntry(l) {
			break
		}
		if n > 1 {
			prev := lines[n-2]
			if l.y0 < prev.y0+prev.boxHeight()*0.4 || l.y0-prev.y1 > 2.5*max(l.size, prev.size) ||
				l.size > prev.size*1.3 || l.size < prev.size*0.7 {
				break
			}
		}
		columns := findGaps(lines[:n])
		if len(columns) == 0 || len(t.columns) > 0 && len(columns) < len(t.columns) || !crossesGap(l, columns) {
			break
		}
		if l.hasWideGap() {
			wide++
		}
		t = table{rows: lines[:n], columns: columns, size: n}
	}
	return t, t.size >= 2 && wide >= 2 && !t.isProse()
}

// isJustified reports whether the lines [from, from+n) have wide gaps only because a narrow column is justified. At
// most three lines are checked: the line before or after them then has the same margins.
func isJustified(lines []line, from, n int) bool {
	same := func(a, b line) bool {
		return a.x0-b.x0 < 1 && b.x0-a.x0 < 1 && a.x1-b.x1 < 1.5 && b.x1-a.x1 < 1.5
	}
	if n > 3 {
		return false
	}
	for _, l := range lines[from+1 : from+n] {
		if !same(lines[from], l) {
			return false
		}
	}
	return from > 0 && same(lines[from-1], lines[from]) || from+n < len(lines) && same(lines[from], lines[from+n])
}

// crossesGap reports whether a line has words on both sides of some gap.
func crossesGap(l line, columns []float32) bool {
	for _, x := range columns {
		left := slices.ContainsFunc(l.words, func(w word) bool { return w.x1 <= x })
		right := slices.ContainsFunc(l.words, func(w word) bool { return w.x0 >= x })
		if left && right {
			return true
		}
	}
	return false
}

// findGaps returns the middles of the vertical strips that no word of any line overlaps and that pass wideAt. It
// sweeps over the words by their left edges.
func findGaps(lines []line) []float32 {
	type span struct {
		x0, x1 float32
		ruled  bool
	}
	var spans []span
	var size float32
	for _, l := range lines {
		size = max(size, l.size)
		for _, w := range l.words {
			spans = append(spans, span{w.x0, w.x1, w.ruled})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.x0, b.x0) })
	var out []float32
	end := spans[0].x1
	for _, s := range spans {
		least := size * narrowGap
		if s.ruled {
			least = size * cellGap
		}
		if s.x0-end > least && wideAt(lines, (s.x0+end)/2) {
			out = append(out, (s.x0+end)/2)
		}
		end = max(end, s.x1)
	}
	return out
}

// wideAt reports whether the gap at x is wide in at least half of the lines with words on both sides of it.
func wideAt(lines []line, x float32) bool {
	wide, both := 0, 0
	for _, l := range lines {
		left, right, ruled := float32(-1e9), float32(1e9), false
		for _, w := range l.words {
			if w.x1 <= x {
				left = max(left, w.x1)
			} else if w.x0 < right {
				right, ruled = w.x0, w.ruled
			}
		}
		if left > -1e8 && right < 1e8 {
			both++
			if ruled || right-left > wideGap*l.size {
				wide++
			}
		}
	}
	return wide > 0 && wide*2 >= both
}

// splitCells splits a row at the gaps.
func (t *table) splitCells(row line) [][]word {
	cells := make([][]word, len(t.columns)+1)
	for _, w := range row.words {
		i := 0
		for i < len(t.columns) && w.x0 >= t.columns[i] {
			i++
		}
		cells[i] = append(cells[i], w)
	}
	return cells
}

// isProse reports whether the columns hold running text, which is read down one column after the other. Seven of ten
// cells have more than 28 bytes, in at most three columns and at least four rows.
func (t *table) isProse() bool {
	if len(t.columns) > 2 || len(t.rows) < 4 {
		return false
	}
	filled, long := 0, 0
	for _, row := range t.rows {
		for _, cell := range t.splitCells(row) {
			n := 0
			for _, w := range cell {
				n += len(w.text) + 1
			}
			if n > 0 {
				filled++
			}
			if n > 28 {
				long++
			}
		}
	}
	return long*10 >= filled*7
}

// unweaveColumns restores the reading order of columns of prose that the file stores line by line across columns.
// Such a sequence has at least four lines, each with a wide gap. Each column is read in turn. A hyphen at a line's
// end belongs to its last column.
func unweaveColumns(lines []line) []line {
	var out []line
	for len(lines) > 0 {
		var t table
		for n := 4; n <= len(lines); n++ {
			if !lines[n-1].hasWideGap() || n > 1 && lines[n-1].y0 <= lines[n-2].y0 {
				break
			}
			columns := findGaps(lines[:n])
			if len(columns) == 0 || len(columns) > 2 || t.size > 0 && len(columns) != len(t.columns) {
				break
			}
			t = table{rows: lines[:n], columns: columns, size: n}
		}
		if t.size < 4 || !allWide(t.rows) || !t.isProse() {
			out = append(out, lines[0])
			lines = lines[1:]
			continue
		}
		for column := range len(t.columns) + 1 {
			for _, row := range t.rows {
				if part := t.splitCells(row)[column]; len(part) > 0 {
					l := line{words: part, hyphen: row.hyphen && column == len(t.columns)}
					for _, w := range part {
						l.joinBox(w.rect)
					}
					l.setStyle()
					out = append(out, l)
				}
			}
		}
		lines = lines[t.size:]
	}
	return out
}

func allWide(lines []line) bool {
	return !slices.ContainsFunc(lines, func(l line) bool { return !l.hasWideGap() })
}
