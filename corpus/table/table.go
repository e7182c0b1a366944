// Package table finds the tables of documents and queries their cells: it selects rows by conditions, counts them
// and aggregates their numbers. It parses numbers, currencies, percentages and dates in the formats of a column's
// cells, and refuses a column with ambiguous values. A query is a fixed set of fields (Query), without code. The
// package imports no store.
//
// table.go finds tables among blocks and detects their header rows; column.go, number.go and date.go parse cells;
// where.go, compute.go and sort.go implement filters, aggregates and sorting; query.go describes queries and runs
// them; names.go resolves column names and words refusals; written.go recognises results as people write them.
//
// Numbers are exact (big.Rat): a sum of amounts has no rounding error. A query without a certain answer returns a
// Refusal, a message to the model, which can then change its query.
package table

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text"
)

const (
	maxHeads  = 300 // maximum runes of all column names, as Row.Heads repeats them
	titleRows = 20  // maximum rows above a table's header
	sampled   = 500 // sampled rows for detecting a column's type

	sectionJoint = " › "
)

// Table is a table of a document, including the blocks that continue it. It is immutable except for cached column
// statistics, so it is not safe for concurrent use.
type Table struct {
	Name    string // the heading above it, which is the sheet name; else "table 2"
	Section string // path of the headings above it, joined by sectionJoint
	Columns []Column
	Rows    []Row // below the header
	Cut     bool  // it continues as text in the document; these rows are not in Rows

	numbers []int // of the columns, in their sheet or from 1
	sheet   bool  // rows and columns have sheet numbers
	all     []Row // with the header and the rows above it
	counted map[int]votes
}

// Column is a column of a table.
type Column struct {
	Letter string // as in its sheet; A, B, … in other documents
	Name   string // from the header, or empty
}

// Row is a row of a table. Offsets are half-open, like those of blocks, so that a row can be cited.
type Row struct {
	Number     int      // in its sheet; in other documents counted from the header, which is 1
	Cells      []string // one for each column of the table
	Block      string   // ID of its block
	Start, End int      // rune offsets in the document's text
	Heads      string   // names of its block's columns, joined as cells are, at most maxHeads runes
	columns    []int    // of the table, for the cells of its block
}

// Read returns the tables of a document, in order. A single row, such as the title above a table, is not a table. A
// table may continue in several blocks: doctext splits long blocks, and a sheet's table may continue after a blank
// row. Text directly below a sheet's table is the overflow beyond the maximum number of cells.
func Read(body string, blocks []corpus.Block) []*Table {
	var tables []*Table
	var open *Table
	at, cells := runeWalker{text: body}, 0
	for i := range blocks {
		b := &blocks[i]
		if b.Kind != corpus.BlockTable || len(b.Cells) == 0 {
			if open != nil && b.Kind == corpus.BlockParagraph { // a sheet has no other text
				open.Cut = open.sheet || cells >= doctext.MaxCells
			}
			open = nil
			continue
		}
		rows := rowsOf(&at, b)
		for _, r := range rows {
			cells += len(r.Cells)
		}
		section := strings.Join(b.Headings, sectionJoint)
		if open != nil && open.Section == section && open.continuesWith(b, rows) {
			open.add(b, rows)
			continue
		}
		open = &Table{Section: section, sheet: b.Grid != nil}
		if n := len(b.Headings); n > 0 {
			open.Name = b.Headings[n-1]
		}
		open.add(b, rows)
		tables = append(tables, open)
	}
	kept := tables[:0]
	for _, t := range tables {
		if len(t.all) > 1 || t.Cut {
			kept = append(kept, t)
		}
	}
	for i, t := range kept {
		t.findHead()
		if t.Name == "" {
			t.Name = tableName(i, len(kept))
		}
	}
	return kept
}

// rowsOf returns the rows of a block, with cells by the block's columns.
func rowsOf(at *runeWalker, b *corpus.Block) []Row {
	rows := make([]Row, 0, len(b.Cells))
	for r, cells := range b.Cells {
		if len(cells) == 0 {
			continue
		}
		row := Row{Block: b.ID, Start: cells[0][0], End: cells[len(cells)-1][1], Number: r + 1}
		if b.Grid != nil {
			row.Number = b.Grid.Rows[r]
		}
		for _, c := range cells {
			row.Cells = append(row.Cells, at.slice(c[0], c[1]))
		}
		rows = append(rows, row)
	}
	return rows
}

// continuesWith reports whether a block continues the table. Either it is marked as a continuation, or it follows in
// the same sheet and columns. Then its first row must have a value in a column that mostly has values. A new table
// below in a sheet has its own header, in words.
func (t *Table) continuesWith(b *corpus.Block, rows []Row) bool {
	if b.Columns != "" {
		return true
	}
	if !t.sheet || b.Grid == nil || len(rows) == 0 {
		return false
	}
	known := map[int]int{}
	for i, n := range t.numbers {
		known[n] = i
	}
	shared := false
	for c, cell := range rows[0].Cells {
		i, ok := known[b.Grid.Columns[c]]
		if !ok {
			continue
		}
		shared = shared || cell != "" && isValueLike(cell) && t.mostlyValues(i)
	}
	return shared
}

// mostlyValues reports whether most filled cells of a column, below its first row, are numbers or dates. It looks
// at no more than sampled rows.
func (t *Table) mostlyValues(column int) bool {
	filled, values := 0, 0
	for _, r := range t.all[min(1, len(t.all)):min(len(t.all), sampled)] {
		if column < len(r.Cells) && r.Cells[column] != "" {
			if filled++; isValueLike(r.Cells[column]) {
				values++
			}
		}
	}
	return 2*values > filled
}

// add appends the rows of a block, each cell in its column. It adds columns that the table lacks.
func (t *Table) add(b *corpus.Block, rows []Row) {
	place := map[int]int{}
	for i, n := range t.numbers {
		place[n] = i
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r.Cells))
	}
	at := make([]int, width) // the table's column of each of the block's
	for c := range at {
		n := c + 1
		if b.Grid != nil {
			n = b.Grid.Columns[c]
		}
		i, ok := place[n]
		if !ok {
			i = len(t.numbers)
			place[n], t.numbers = i, append(t.numbers, n)
		}
		at[c] = i
	}
	before := 0
	if n := len(t.all); n > 0 && !t.sheet {
		before = t.all[n-1].Number
	}
	for _, r := range rows {
		if !t.sheet {
			r.Number += before
		}
		cells := make([]string, len(t.numbers))
		for c, cell := range r.Cells {
			cells[at[c]] = cell
		}
		r.columns, r.Cells = at[:len(r.Cells)], cells
		t.all = append(t.all, r)
	}
}

// SectionOf returns the heading path of a row, followed by its column names.
func (t *Table) SectionOf(r Row) string {
	if t.Section == "" || r.Heads == "" {
		return t.Section + r.Heads
	}
	return t.Section + sectionJoint + r.Heads
}

// Cell returns the text of a row's cell in a column.
func (r Row) Cell(column int) string {
	if column < len(r.Cells) {
		return r.Cells[column]
	}
	return ""
}

// different returns the number of distinct non-empty cells of a row: a merged cell is repeated in each of its
// columns.
func (r Row) different() int {
	seen := map[string]bool{}
	for _, c := range r.Cells {
		if c != "" {
			seen[c] = true
		}
	}
	return len(seen)
}

// findHead separates the header from the rows above and below it. A first row with numbers in numeric columns is a
// data row. The columns of a table without a header have letters only.
func (t *Table) findHead() {
	head := t.headRow()
	named := !t.isData(head)
	t.Rows = t.all[head:]
	if named {
		t.Rows = t.all[head+1:]
	}
	for i, n := range t.numbers {
		c := Column{Letter: corpus.ColumnName(n)}
		if named {
			c.Name = oneLine(t.all[head].Cell(i))
		}
		t.Columns = append(t.Columns, c)
	}
	heads := map[string]string{} // of each block
	for i := range t.Rows {
		r := &t.Rows[i]
		if _, known := heads[r.Block]; !known && named {
			var names []string
			for _, c := range r.columns {
				names = append(names, t.Columns[c].Name)
			}
			heads[r.Block] = text.Shorten(strings.Join(names, " | "), maxHeads)
		}
		r.Heads = heads[r.Block]
	}
}

// headRow returns the index of the header. It considers the rows above the first one with a number in a numeric
// column. The header is the one that fills the most columns with distinct text, if that is more than half of them;
// else it is that first row. It looks at no more than titleRows rows.
func (t *Table) headRow() int {
	var numbers []int
	for c := range t.numbers {
		if t.mostlyValues(c) {
			numbers = append(numbers, c)
		}
	}
	top := t.all[:min(len(t.all)-1, titleRows)]
	first := slices.IndexFunc(top, func(r Row) bool {
		return slices.ContainsFunc(numbers, func(c int) bool { return isValueLike(r.Cell(c)) })
	})
	above := top
	if first >= 0 {
		above = top[:first]
	}
	head, most := -1, len(t.numbers)/2
	for i, r := range above {
		if n := r.different(); n > most {
			head, most = i, n
		}
	}
	if head < 0 {
		return max(first, 0)
	}
	return head
}

// isData reports whether a row is a data row: numeric columns have a number in it. Numbers in equal steps, such as
// years, may be column names.
func (t *Table) isData(row int) bool {
	below := &Table{all: t.all[row:]}
	var numbers []string
	for c := range t.numbers {
		cell := t.all[row].Cell(c)
		if cell == "" || !below.mostlyValues(c) {
			continue
		}
		if !isValueLike(cell) {
			return false
		}
		numbers = append(numbers, cell)
	}
	return len(numbers) > 0 && !inSteps(numbers)
}

// Title returns the display name of a column: its name, or its letter.
func (c Column) Title() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Letter
}

// oneLine returns a text without line breaks and repeated spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
