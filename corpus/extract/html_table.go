package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	maxColspan  = 1000    // columns of one cell (HTML Standard, "Attributes common to td and th elements")
	maxHeadRows = 5       // rows that name columns
	maxRepeated = 1 << 20 // bytes of text that cells over several rows add to a page
)

// htmlTable is a table as a grid of its cells. A cell over several rows or columns is in each of its places.
type htmlTable struct {
	rows  [][]htmlCell
	heads int // rows that name columns
	width int
}

// htmlCell is a place of the grid. An empty place has no node. across means that the cell begins in a column before,
// and down that it begins in a row above.
type htmlCell struct {
	*html.Node
	across, down bool
}

// writeTable writes a data table. A layout table is written like any other element. Rows are collected first to
// distinguish them. A table is for layout if its role is "presentation" or if it has one column. It also is if a
// cell holds other tables, code, headings or more than 3000 runes. A table inside a cell is written in that cell,
// since look doesn't descend into cells.
func (h *htmlWalk) writeTable(n *html.Node, at place) {
	var t htmlTable
	layout := attribute(n, "role") == "presentation"
	cells := 0
	var look func(*html.Node)
	look = func(n *html.Node) {
		var group, feet []*html.Node
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch c.DataAtom {
			case atom.Tr:
				group = append(group, c)
				for d := c.FirstChild; d != nil; d = d.NextSibling {
					layout = layout || isCell(d) && isLayout(d)
				}
			case atom.Thead, atom.Tbody:
				look(c)
			case atom.Tfoot:
				feet = append(feet, c) // at the end, where browsers show it
			case atom.Caption:
				h.writeLine(c, corpus.Block{Kind: corpus.BlockParagraph, Quote: at.quote}, at)
			}
		}
		cells = t.add(group, n.DataAtom == atom.Thead, cells)
		for _, foot := range feet {
			look(foot)
		}
	}
	look(n)
	t.trim()
	if layout || t.width < 2 {
		for _, row := range t.rows {
			for _, cell := range row {
				if cell.Node != nil && !cell.across && !cell.down {
					h.w.End()
					h.walkChildren(cell.Node, at)
				}
			}
		}
		return
	}
	for t.heads > 1 && t.isTitle(t.rows[0]) {
		h.writeLine(t.rows[0][0].Node, corpus.Block{Kind: corpus.BlockParagraph, Quote: at.quote}, at)
		t.rows, t.heads = t.rows[1:], t.heads-1
	}
	h.w.Begin(corpus.Block{Kind: corpus.BlockTable, Quote: at.quote})
	h.flat = true
	if t.heads > 1 && t.heads < len(t.rows) {
		h.writeHeads(t.rows[:t.heads], t.width, at)
		t.rows = t.rows[t.heads:]
	}
	for _, row := range t.rows {
		h.w.Row()
		for _, cell := range row {
			h.w.Cell()
			switch {
			case cell.Node == nil || cell.across:
			case cell.down:
				h.repeatCell(cell.Node)
			default:
				h.walkChildren(cell.Node, at)
			}
		}
	}
	h.flat = false
	h.w.End()
}

// isCell reports whether a node is a visible cell.
func isCell(n *html.Node) bool {
	return (n.DataAtom == atom.Td || n.DataAtom == atom.Th) && !isHidden(n)
}

// add appends the rows of a group, which bounds the cells over several rows. Rows above all others name the columns
// if they hold th elements alone, one of them over several places, or any in a thead. cells is the number of places so
// far. Beyond doctext.MaxCells a cell has one place.
func (t *htmlTable) add(group []*html.Node, head bool, cells int) int {
	type span struct {
		htmlCell
		rows int
	}
	var open []span // by column: the cells that continue in the next row
	for i, tr := range group {
		var row []htmlCell
		names, named, spans := true, false, false
		if cells > doctext.MaxCells {
			open = nil
		}
		down := func() { // cells of rows above
			for len(row) < len(open) && open[len(row)].rows > 0 {
				s := &open[len(row)]
				s.rows--
				row = append(row, s.htmlCell)
			}
		}
		for c := tr.FirstChild; c != nil; c = c.NextSibling {
			if !isCell(c) {
				continue
			}
			down()
			columns, rows := spanOf(c, "colspan", maxColspan), spanOf(c, "rowspan", len(group)-i)
			if cells > doctext.MaxCells {
				columns, rows = 1, 1
			}
			isName := c.DataAtom == atom.Th
			names, named, spans = names && isName, named || isName, spans || columns > 1 || rows > 1
			for across := range columns {
				for len(open) <= len(row) {
					open = append(open, span{})
				}
				cell := htmlCell{c, across > 0, false}
				open[len(row)] = span{htmlCell{c, across > 0, true}, rows - 1}
				row = append(row, cell)
			}
			cells += columns
		}
		down()
		cells += len(row)
		if t.heads == len(t.rows) && t.heads < maxHeadRows && len(row) > 0 &&
			(head && (named || spans) || names && (spans || t.heads > 0)) {
			t.heads++
		}
		t.rows = append(t.rows, row)
	}
	return cells
}

// trim sets the width, and drops the columns in which no cell begins: authors let a cell span more than there are.
func (t *htmlTable) trim() {
	for _, row := range t.rows {
		for c, cell := range row {
			if cell.Node != nil && !cell.across {
				t.width = max(t.width, c+1)
			}
		}
	}
	for i, row := range t.rows {
		t.rows[i] = row[:min(len(row), t.width)]
	}
}

// spanOf returns the number of columns or rows of a cell, from 1 to most. A rowspan of 0 means all rows of the group.
func spanOf(n *html.Node, key string, most int) int {
	span, ok := ordinalAttr(n, key)
	if ok && span == 0 && key == "rowspan" {
		return most
	}
	return min(max(span, 1), most)
}

// isTitle reports whether a header row is a single cell over the whole table.
func (t *htmlTable) isTitle(row []htmlCell) bool {
	return len(row) == t.width &&
		!slices.ContainsFunc(row, func(c htmlCell) bool { return c.Node == nil || c.Node != row[0].Node })
}

// writeHeads writes several rows of names as one: the name of a column is that of its group, and its own.
func (h *htmlWalk) writeHeads(rows [][]htmlCell, width int, at place) {
	h.w.Row()
	for c := range width {
		h.w.Cell()
		var names []string
		for _, row := range rows {
			if c >= len(row) || row[c].Node == nil {
				continue
			}
			name := doctext.Line(textOf(row[c].Node))
			if slices.Contains(names, name) {
				continue
			}
			names = append(names, name)
			h.w.Text(" ")
			if row[c].across || row[c].down {
				h.repeatCell(row[c].Node)
			} else {
				h.walkChildren(row[c].Node, at)
			}
		}
	}
}

// repeatCell writes the text of a cell again, in another of its places. The text that a page repeats is bounded.
func (h *htmlWalk) repeatCell(n *html.Node) {
	said := strings.TrimSpace(textOf(n))
	if h.repeated += len(said); h.repeated <= maxRepeated {
		h.w.Text(said)
	}
}
