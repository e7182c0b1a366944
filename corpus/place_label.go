package corpus

import (
	"fmt"
	"strconv"
	"strings"
)

// pageLabel names a page of a document: "p. 4", "slide 7"; it is empty for page 0.
func (l *Library) pageLabel(d Document, page int) string {
	if page == 0 {
		return ""
	}
	return l.cfg.Formats.PageWord(d.MIME, d.Filename) + " " + strconv.Itoa(page)
}

// cellLabel names the cell or the rows of a sheet that [start, end) lies in: "Invoices, cell B7", "Invoices, row 12",
// "Invoices, rows 12–14". The sheet's name is the last of the headings above. Only a single cell is named as one;
// otherwise rows are.
func (b Block) cellLabel(start, end int) string {
	first, last, cells, column := -1, -1, 0, 0
	for r, row := range b.Cells {
		for c, cell := range row {
			if cell[0] >= end || cell[1] <= start {
				continue
			}
			if first < 0 {
				first = r
			}
			last, column = r, c
			cells++
		}
	}
	if first < 0 {
		return ""
	}
	at := spanLabel("row", b.Grid.Rows[first], b.Grid.Rows[last])
	if cells == 1 {
		at = "cell " + ColumnName(b.Grid.Columns[column]) + strconv.Itoa(b.Grid.Rows[first])
	}
	if n := len(b.Headings); n > 0 {
		return b.Headings[n-1] + ", " + at
	}
	return at
}

// rowLabel names the rows of a table without a grid, block i of a document, that [start, end) lies in: "row 12", "Fees,
// rows 3–4". They are counted from the first block of the table. The head is row 1.
func rowLabel(blocks []Block, i, start, end int) string {
	first, last := 0, 0
	for r, row := range blocks[i].Cells {
		if len(row) > 0 && row[0][0] < end && row[len(row)-1][1] > start {
			if first == 0 {
				first = r + 1
			}
			last = r + 1
		}
	}
	if first == 0 {
		return ""
	}
	for k := i; k > 0 && blocks[k].Columns != "" && blocks[k-1].Kind == BlockTable; k-- {
		first, last = first+len(blocks[k-1].Cells), last+len(blocks[k-1].Cells)
	}
	at := spanLabel("row", first, last)
	if n := len(blocks[i].Headings); n > 0 {
		return blocks[i].Headings[n-1] + ", " + at
	}
	return at
}

// lineLabel names the lines of a file that [start, end) of the document's text covers: "line 40", "lines 40–44". Line
// breaks are counted in the text of the block.
func (b Block) lineLabel(text string, start, end int) string {
	w := walker{text: text}
	before := strings.Count(w.sliceRunes(b.Start, max(start, b.Start)), "\n")
	within := strings.Count(strings.TrimRight(w.sliceRunes(max(start, b.Start), min(end, b.End)), "\n"), "\n")
	return spanLabel("line", b.Line+before, b.Line+before+within)
}

// spanLabel is "row 3" or "rows 3–5".
func spanLabel(what string, first, last int) string {
	if first == last {
		return what + " " + strconv.Itoa(first)
	}
	return fmt.Sprintf("%ss %d–%d", what, first, last)
}

// ColumnName is the name of a sheet's column, counted from 1: A, B … Z, AA.
func ColumnName(n int) (name string) {
	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}
