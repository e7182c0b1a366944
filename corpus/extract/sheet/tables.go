package sheet

import (
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// Columns are known only when all rows of a table were seen; longer tables take those of their first rows. 16,384
	// columns is the most that Excel has.
	lookAhead  = 2000 // rows of a table that are looked at before its columns are known
	maxColumns = 16_384
)

// row is a row of a sheet: its number from 1, and its cells as they are shown, by column.
type row struct {
	n     int
	cells []string
}

// used are the columns of a row, from 1, that hold something.
func (r row) used() (columns []int) {
	for i, cell := range r.cells {
		if cell != "" {
			columns = append(columns, i+1)
		}
	}
	return columns
}

// tables writes the rows of a sheet as tables. A blank row ends a table; what stands alone above a table, such as its
// title, is one of its own, so that the table's first row is its head. Columns that nothing stands in are left out.
// People put several tables on a sheet, with notes and titles around them; each has to have a head of its own for
// questions about its columns.
type tables struct {
	w       *doctext.Writer
	name    string // of the sheet
	begun   bool   // the sheet's heading is written
	waiting []row
	columns []int // of the table at work; nil: none is open
	last    int   // number of the last row
}

// add adds the next row; a blank one may be left out. Rows come in the order of their numbers. While the columns are
// known, rows are written at once; a row with a value in a column that the table doesn't have begins another table.
// Without columns rows wait.
func (t *tables) add(n int, cells []string) {
	r := row{n, cells[:min(len(cells), maxColumns)]}
	used := r.used()
	if len(used) == 0 {
		return
	}
	if n != t.last+1 {
		t.flush()
	}
	t.last = n
	if t.columns != nil {
		if !within(used, t.columns) {
			t.columns = nil
		} else {
			t.writeRow(r)
			return
		}
	}
	if t.waiting = append(t.waiting, r); len(t.waiting) >= lookAhead {
		t.begin()
	}
}

// flush ends the table at work. It is called at a gap and at the end of the sheet.
func (t *tables) flush() {
	t.begin()
	t.w.End()
	t.columns = nil
}

// beginSheet writes the sheet's heading, if it isn't there yet.
func (t *tables) beginSheet() {
	if !t.begun {
		t.begun = true
		t.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
		t.w.Text(t.name)
	}
}

// writeDrawn writes the lines of what is drawn on the sheet, each as a paragraph.
func (t *tables) writeDrawn(lines []string) {
	for _, line := range lines {
		t.beginSheet()
		t.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
		t.w.Text(line)
	}
	t.w.End()
}

// begin writes the rows that wait. Single cells at their top are taken off first, each a table of its own. Then the
// columns are those in which any waiting row has something.
func (t *tables) begin() {
	rows := t.waiting
	if t.waiting = nil; len(rows) == 0 {
		return
	}
	t.beginSheet()
	for len(rows) > 1 && len(rows[0].used()) == 1 && len(rows[1].used()) > 0 && !alone(rows) {
		t.open(rows[0].used())
		t.writeRow(rows[0])
		rows = rows[1:]
	}
	seen := map[int]bool{}
	for _, r := range rows {
		for _, c := range r.used() {
			seen[c] = true
		}
	}
	var columns []int
	for c := 1; len(columns) < len(seen); c++ {
		if seen[c] {
			columns = append(columns, c)
		}
	}
	t.open(columns)
	for _, r := range rows {
		t.writeRow(r)
	}
}

// alone reports whether rows are a list: none has more than one cell. A list has no title that could be told from its
// items.
func alone(rows []row) bool {
	for _, r := range rows {
		if len(r.used()) > 1 {
			return false
		}
	}
	return true
}

// open begins a table of these columns, which its grid names.
func (t *tables) open(columns []int) {
	t.columns = columns
	t.w.Begin(corpus.Block{Kind: corpus.BlockTable, Grid: &corpus.Grid{Columns: columns}})
}

// writeRow writes the cells of a row below the table's columns.
func (t *tables) writeRow(r row) {
	t.w.SheetRow(r.n)
	for _, c := range t.columns {
		t.w.Cell()
		if c <= len(r.cells) {
			t.w.Text(r.cells[c-1])
		}
	}
}

// within reports whether all of some ascending columns are among others.
func within(some, all []int) bool {
	i := 0
	for _, c := range some {
		for i < len(all) && all[i] < c {
			i++
		}
		if i == len(all) || all[i] != c {
			return false
		}
	}
	return true
}
