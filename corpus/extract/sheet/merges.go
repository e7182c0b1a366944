package sheet

import "slices"

// merge is a rectangle of cells that show one value, by rows and columns from 1. The value is that of its first cell.
// The bounds belong to it.
type merge struct{ left, top, right, bottom int }

// merger gives every cell of a merged rectangle its value, row by row, as one sees it: a group's name beside each of
// its rows, a quarter above each of its months. What spans a row alone is a title and stays one cell. Of rectangles
// that share columns of a row the first counts. In the file all cells of a merged rectangle but the first are empty.
type merger struct {
	begin map[int][]merge // by the row that they begin in
	open  []opened
}

// opened is a rectangle that the last row had a part in. Its value is that of its first cell.
type opened struct {
	merge
	value string
}

// fill fills the cells of row n. Rows come in order; blank ones may be left out. It first closes the rectangles that
// ended above, then opens those that begin here. Cells that hold something keep it. A row without any value gets none
// either, as it would keep a table open.
func (m *merger) fill(n int, cells []string) []string {
	kept := m.open[:0]
	for _, o := range m.open {
		if o.bottom >= n {
			kept = append(kept, o)
		}
	}
	m.open = kept
	for _, one := range m.begin[n] {
		overlaps := slices.ContainsFunc(m.open,
			func(o opened) bool { return one.left <= o.right && o.left <= one.right })
		if !overlaps && one.left <= len(cells) && cells[one.left-1] != "" {
			m.open = append(m.open, opened{one, cells[one.left-1]})
		}
	}
	if len(m.open) == 0 || len((row{n, cells}).used()) == 0 || len(m.open) == 1 && m.open[0].spansAlone(n, cells) {
		return cells
	}
	for _, o := range m.open {
		for c := o.left; c <= min(o.right, maxColumns); c++ {
			for len(cells) < c {
				cells = append(cells, "")
			}
			if cells[c-1] == "" {
				cells[c-1] = o.value
			}
		}
	}
	return cells
}

// spansAlone reports whether nothing but the rectangle stands in row n. Then it is a title over the table below it,
// which needs it once.
func (o opened) spansAlone(n int, cells []string) bool {
	for _, c := range (row{n, cells}).used() {
		if c < o.left || c > o.right {
			return false
		}
	}
	return true
}
