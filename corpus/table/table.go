// Package table finds the tables of documents and answers questions about their cells: which rows fit conditions, how
// many there are, and what their numbers come to. It reads numbers, currencies, percents and dates in the forms that a
// column's cells have, and refuses a column that can be read in two ways. A question is a fixed set of fields (Query);
// there is no code in it. It knows no store.
//
// table.go finds tables among blocks and tells their heads; column.go, number.go and date.go read what cells say;
// where.go, compute.go and sort.go do what a query asks, which query.go describes and puts together; names.go finds
// columns by their names and words refusals; written.go knows how people write a result.
//
// Numbers are exact (big.Rat): a sum of amounts has no rounding error. What can't be answered for certain is refused
// with a sentence for the model that asked (Refusal), which can then ask otherwise.
package table

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/text"
)

const (
	maxHeads  = 300 // runes of the names of all columns, as Row.Heads repeats them
	titleRows = 20  // rows above a table's head at most
	sampled   = 500 // rows by which is told what a column mostly holds

	sectionJoint = " › "
)

// Table is a table of a document, with the blocks that it goes on in. It is read once and not changed afterwards, but
// for what is counted of its columns: it is not safe for concurrent use.
type Table struct {
	Name    string // the heading above it, which is the name of its sheet; else "table 2"
	Section string // path of the headings above it, joined by sectionJoint
	Columns []Column
	Rows    []Row // below the head
	Cut     bool  // it goes on in the document as text: its last rows are no rows here

	numbers []int // of the columns, in their sheet or from 1
	sheet   bool  // its rows and columns have the numbers of a sheet
	all     []Row // with the head and what stands above it
	counted map[int]votes
}

// Column is a column of a table.
type Column struct {
	Letter string // as in its sheet; A, B, … in other documents
	Name   string // of the head, empty if it has none
}

// Row is a row of a table. Offsets are half-open, as those of blocks are, so that a row can be cited.
type Row struct {
	Number     int      // in its sheet; in other documents counted from the head, which is 1
	Cells      []string // one for each column of the table
	Block      string   // id of the block that it stands in
	Start, End int      // rune offsets in the document's text
	Heads      string   // the names above what stands there, joined as cells are, at most maxHeads runes
	columns    []int    // of the table, in which its block has cells
}

// Read returns the tables of a document, in order. What stands alone above a table, such as its title, is none. A table
// may go on in several blocks, which doctext cuts where a block gets too long; in a sheet also behind a blank row. Text
// directly below a sheet's table is what went beyond the most cells.
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
		if open != nil && open.Section == section && open.takes(b, rows) {
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

// rowsOf are the rows of a block, with their cells by the columns of the block.
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

// takes reports whether a block goes on with the table: it says so itself, or it stands below it in its sheet, in the
// same columns, and has numbers where the table has some from its first row on. Two tables of a sheet that stand below
// each other have heads of their own, in words.
func (t *Table) takes(b *corpus.Block, rows []Row) bool {
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
		shared = shared || cell != "" && looksValue(cell) && t.mostlyValues(i)
	}
	return shared
}

// mostlyValues reports whether most of what stands in a column so far, below its first row, are numbers or dates. At
// most sampled rows are looked at.
func (t *Table) mostlyValues(column int) bool {
	filled, values := 0, 0
	for _, r := range t.all[min(1, len(t.all)):min(len(t.all), sampled)] {
		if column < len(r.Cells) && r.Cells[column] != "" {
			if filled++; looksValue(r.Cells[column]) {
				values++
			}
		}
	}
	return 2*values > filled
}

// add takes over the rows of a block, each cell in its column. Columns that the table doesn't have yet are added to it.
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

// SectionOf is the path of headings to a row, with the names of its columns at the end.
func (t *Table) SectionOf(r Row) string {
	if t.Section == "" || r.Heads == "" {
		return t.Section + r.Heads
	}
	return t.Section + sectionJoint + r.Heads
}

// Cell is what stands in a column of a row.
func (r Row) Cell(column int) string {
	if column < len(r.Cells) {
		return r.Cells[column]
	}
	return ""
}

// different is how many cells of a row are filled with something of their own: a cell that reaches over several
// columns is in each.
func (r Row) different() int {
	seen := map[string]bool{}
	for _, c := range r.Cells {
		if c != "" {
			seen[c] = true
		}
	}
	return len(seen)
}

// findHead tells the head from what stands above it and from the rows below. A first row that has numbers where the
// others have some is a row like them. A table without a head has columns with letters only.
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

// headRow is where the head stands: of the rows above the first one with a number in a column of numbers the one that
// fills most columns, each in its own words, and more than half of them; else that first row itself. At most titleRows
// are looked at: below them there is no head.
func (t *Table) headRow() int {
	var numbers []int
	for c := range t.numbers {
		if t.mostlyValues(c) {
			numbers = append(numbers, c)
		}
	}
	top := t.all[:min(len(t.all)-1, titleRows)]
	first := slices.IndexFunc(top, func(r Row) bool {
		return slices.ContainsFunc(numbers, func(c int) bool { return looksValue(r.Cell(c)) })
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

// isData reports whether a row is one like those below it: a column of numbers has a number in it. Numbers in equal
// steps, such as years, may be names of columns.
func (t *Table) isData(row int) bool {
	below := &Table{all: t.all[row:]}
	var numbers []string
	for c := range t.numbers {
		cell := t.all[row].Cell(c)
		if cell == "" || !below.mostlyValues(c) {
			continue
		}
		if !looksValue(cell) {
			return false
		}
		numbers = append(numbers, cell)
	}
	return len(numbers) > 0 && !inSteps(numbers)
}

// Title is what people call a column: its name, else its letter.
func (c Column) Title() string {
	if c.Name != "" {
		return c.Name
	}
	return c.Letter
}

// oneLine is a text without line breaks and double spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
