package sheet

import "slices"

// merge is a range of merged cells, with inclusive bounds from 1. Its value is that of its first cell.
type merge struct{ left, top, right, bottom int }

// merger copies the value of a merged range to all its cells, row by row. A group's name is copied to each of its
// rows, a quarter to each of its months. A range that is alone in a row is a title and keeps one cell. Of
// overlapping ranges the first is used. In the file all cells of a merged range but the first are empty.
type merger struct {
	begin map[int][]merge // by first row
	open  []opened
}

// opened is a range that covers the current row, with its value.
type opened struct {
	merge
	value string
}

// fill fills the cells of row n. Rows must be in order; blank ones may be skipped. It first closes the ranges that
// ended above, then opens those that begin here. Non-empty cells keep their value. A blank row stays blank, because
// a filled one would continue its table.
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

// spansAlone reports whether row n has no values outside of the range. The range is then a title of the table below
// it, and needed once.
func (o opened) spansAlone(n int, cells []string) bool {
	for _, c := range (row{n, cells}).used() {
		if c < o.left || c > o.right {
			return false
		}
	}
	return true
}
