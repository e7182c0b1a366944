package docx

import "strings"

// node is a paragraph or a table of the file. Exactly one of both is set.
type node struct {
	paragraph *paragraph
	table     *table
}

// paragraph is a paragraph before it is written.
type paragraph struct {
	style   string
	outline int // level of a heading from 1 by the paragraph itself; 0: not said
	list    listRef
	runs    []run
	notes   []note // that it refers to, in order
	boxes   []node // of the text boxes that are anchored in it
	joined  bool   // its end is a tracked deletion: the next paragraph goes on in it
}

// run is a piece of text with one formatting.
type run struct {
	text         string // "\n" alone is a line break
	bold, italic bool
	raised       bool // superscript
	link         string
}

// isBlank reports whether a paragraph has no text; its boxes may have some.
func (p *paragraph) isBlank() bool {
	for _, r := range p.runs {
		if strings.TrimSpace(r.text) != "" {
			return false
		}
	}
	return true
}

// text is a paragraph's text without formatting, with its line breaks.
func (p *paragraph) text() string {
	var b strings.Builder
	for _, r := range p.runs {
		b.WriteString(r.text)
	}
	return b.String()
}

// table is a table before it is written. Rows may have different numbers of cells.
type table struct{ rows [][]cell }

// cell is a cell of a table. One that goes on from the row above has no nodes.
type cell struct {
	nodes []node
	span  int // columns, at least 1
}

// laysOut reports whether a table only lays the page out: it has one column, or a cell with parts of a page. Letters
// and forms are often set in tables. Written as rows of cells they could not be read.
func (t *table) laysOut(r *reader) bool {
	columns := 0
	for _, row := range t.rows {
		n := 0
		for _, c := range row {
			n += c.span
			if c.laysOut(r) {
				return true
			}
		}
		columns = max(columns, n)
	}
	return columns < 2
}

// maxCell is how long the text of a cell is at most, in bytes, that is a value and no part of a page.
const maxCell = 6000

// laysOut reports whether a cell holds a part of a page: a table, a text box, a heading with text below it, or long
// text.
func (c *cell) laysOut(r *reader) bool {
	size := 0
	for _, n := range c.nodes {
		if n.table != nil || len(n.paragraph.boxes) > 0 || r.headingLevel(n.paragraph) > 0 && len(c.nodes) > 1 {
			return true
		}
		size += len(n.paragraph.text())
	}
	return size > maxCell
}
