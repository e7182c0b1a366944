package sheet

import (
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	// Columns are known only after all rows of a table; longer tables use those of their first rows. Excel's limit
	// is 16,384 columns.
	lookAhead  = 2000 // rows that are buffered to determine a table's columns
	maxColumns = 16_384
)

// row is a row of a sheet: its number from 1, and the display values of its cells by column.
type row struct {
	n     int
	cells []string
}

// used returns the non-empty columns of a row, from 1.
func (r row) used() (columns []int) {
	for i, cell := range r.cells {
		if cell != "" {
			columns = append(columns, i+1)
		}
	}
	return columns
}

// tables writes the rows of a sheet as tables. A blank row ends a table. A single cell above a table, such as its
// title, is a separate table, so that the first row of the table is its header. Empty columns are dropped. Sheets
// often have several tables with notes and titles around them. Each table needs a header, so that questions about
// its columns can be answered.
type tables struct {
	w       *doctext.Writer
	name    string // of the sheet
	begun   bool   // the sheet's heading is written
	waiting []row
	columns []int // of the current table; nil: none is open
	last    int   // number of the last row
}

// add adds the next row; blank ones may be skipped. Rows must be in ascending order. Once the columns are known,
// rows are written at once. A row with a value in another column begins a new table. Before that, rows are buffered.
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

// flush ends the current table. It is called at a gap and at the end of the sheet.
func (t *tables) flush() {
	t.begin()
	t.w.End()
	t.columns = nil
}

// beginSheet writes the sheet's heading once.
func (t *tables) beginSheet() {
	if !t.begun {
		t.begun = true
		t.w.Begin(corpus.Block{Kind: corpus.BlockHeading, Level: 1})
		t.w.Text(t.name)
	}
}

// writeDrawn writes the text of the sheet's drawings, each line as a paragraph.
func (t *tables) writeDrawn(lines []string) {
	for _, line := range lines {
		t.beginSheet()
		t.w.Begin(corpus.Block{Kind: corpus.BlockParagraph})
		t.w.Text(line)
	}
	t.w.End()
}

// begin writes the buffered rows. Leading single cells become separate tables. The columns of the table are then all
// non-empty ones of the buffered rows.
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

// alone reports whether rows are a list: no row has more than one cell. A title of a list can't be distinguished
// from its items.
func alone(rows []row) bool {
	for _, r := range rows {
		if len(r.used()) > 1 {
			return false
		}
	}
	return true
}

// open begins a table with these columns in its grid.
func (t *tables) open(columns []int) {
	t.columns = columns
	t.w.Begin(corpus.Block{Kind: corpus.BlockTable, Grid: &corpus.Grid{Columns: columns}})
}

// writeRow writes the cells of a row in the table's columns.
func (t *tables) writeRow(r row) {
	t.w.SheetRow(r.n)
	for _, c := range t.columns {
		t.w.Cell()
		if c <= len(r.cells) {
			t.w.Text(r.cells[c-1])
		}
	}
}

// within reports whether some is a subset of all. Both are ascending.
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
