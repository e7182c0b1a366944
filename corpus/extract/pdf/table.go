package pdf

import (
	"slices"
)

// Gaps as shares of the font size.
const (
	wideGap   = 1.2  // more than any space between words
	narrowGap = 0.36 // more than most: enough between columns whose gap is wide in most rows
)

// table is a sequence of lines whose words are in columns. Columns are detected by the gaps between them. PDFs
// hardly ever mark tables, and lines drawn around cells are not read.
type table struct {
	rows    []line
	columns []float32 // the middle of each gap between two columns
	size    int       // number of lines
}

// hasWideGap reports whether a line has a gap that is wider than any space between words.
func (l *line) hasWideGap() bool {
	for i := 1; i < len(l.words); i++ {
		if l.words[i].x0-l.words[i-1].x1 > wideGap*l.size {
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
	var spans [][2]float32
	var size float32
	for _, l := range lines {
		size = max(size, l.size)
		for _, w := range l.words {
			spans = append(spans, [2]float32{w.x0, w.x1})
		}
	}
	slices.SortFunc(spans, func(a, b [2]float32) int {
		switch {
		case a[0] < b[0]:
			return -1
		case a[0] > b[0]:
			return 1
		}
		return 0
	})
	var out []float32
	end := spans[0][1]
	for _, s := range spans {
		if s[0]-end > size*narrowGap && wideAt(lines, (s[0]+end)/2) {
			out = append(out, (s[0]+end)/2)
		}
		end = max(end, s[1])
	}
	return out
}

// wideAt reports whether the gap at x is wide in at least half of the lines with words on both sides of it.
func wideAt(lines []line, x float32) bool {
	wide, both := 0, 0
	for _, l := range lines {
		left, right := float32(-1e9), float32(1e9)
		for _, w := range l.words {
			if w.x1 <= x {
				left = max(left, w.x1)
			} else {
				right = min(right, w.x0)
			}
		}
		if left > -1e8 && right < 1e8 {
			both++
			if right-left > wideGap*l.size {
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
