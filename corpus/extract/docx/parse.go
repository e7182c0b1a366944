package docx

import (
	"encoding/xml"
	"strings"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// parser reads the XML of one part into nodes. Each method begins where an element has begun and reads to its end, see
// ooxml.Decoder.
type parser struct {
	r         *reader
	d         *ooxml.Decoder
	relations ooxml.Relations
	fields    []field
}

// field is a field whose text is being read. Its instruction is not shown, its result is.
type field struct {
	instruction strings.Builder
	result      bool // what comes now is the result
}

// blocks reads the paragraphs and tables inside the element that began last, and hands over each when it is whole.
// Content controls, custom XML and insertions are gone through. A paragraph whose mark was deleted is not handed over:
// its runs are carried to the next one, of which they are the beginning.
func (p *parser) blocks(emit func(node) error) error {
	var carried []run
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "p":
			para, err := p.paragraph()
			if err != nil {
				return err
			}
			// What was carried stands before the later paragraph's own text, whose style and list count.
			para.runs = append(carried, para.runs...)
			if carried = nil; para.joined {
				carried = para.runs
				return nil
			}
			return emit(node{paragraph: para})
		case "tbl":
			t, err := p.table()
			if err != nil {
				return err
			}
			return emit(node{table: t})
		case "sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo":
			return p.blocks(emit)
		case "del", "moveFrom":
			p.r.deleted++
			return p.d.Skip()
		case "AlternateContent":
			return p.alternative(func() error { return p.blocks(emit) })
		}
		return p.d.Skip()
	})
}

// alternative reads the first choice of several forms of the same content. AlternateContent (ECMA-376 part 3) has the
// form for newer programs first and a fallback for older ones behind it. Reading both would write a text twice.
func (p *parser) alternative(read func() error) error {
	done := false
	return p.d.Children(func(e xml.StartElement) error {
		if done {
			return p.d.Skip()
		}
		done = true
		return read()
	})
}

// collect reads the nodes inside an element, where they can't be written yet.
func (p *parser) collect() (nodes []node, err error) {
	err = p.blocks(func(n node) error {
		nodes = append(nodes, n)
		return nil
	})
	return nodes, err
}

// table reads a tbl element (§17.4) whole: whether it is data or a layout is known at its end only.
func (p *parser) table() (*table, error) {
	t := &table{}
	err := p.rows(t)
	return t, err
}

// rows reads the rows of a table (§17.4). One that was deleted as a tracked change is counted and left out. The context
// is looked at after each row, as a table may be the whole document.
func (p *parser) rows(t *table) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "tr":
			var row []cell
			deleted := false
			if err := p.cells(&row, &deleted); err != nil {
				return err
			}
			if deleted {
				p.r.deleted++
			} else {
				t.rows = append(t.rows, row)
			}
			return p.r.ctx.Err()
		case "sdt", "sdtContent", "customXml", "ins":
			return p.rows(t)
		}
		return p.d.Skip()
	})
}

// It keeps a forged span from filling memory with cells.
const maxSpan = 100 // columns that one cell may take

// cells reads the cells of a row. Columns that the row leaves empty at its beginning (gridBefore) are one empty cell.
func (p *parser) cells(row *[]cell, deleted *bool) error {
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "trPr":
			return p.d.Children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "del":
					*deleted = true
				case "gridBefore":
					if n := ooxml.IntAttr(e, "val", 0); n > 0 {
						*row = append(*row, cell{span: min(n, maxSpan)})
					}
				}
				return p.d.Skip()
			})
		case "tc":
			c, err := p.cell()
			*row = append(*row, c)
			return err
		case "sdt", "sdtContent", "customXml":
			return p.cells(row, deleted)
		}
		return p.d.Skip()
	})
}

// cell reads one cell. A cell that goes on from the one above or before it (vMerge, hMerge) is empty: its text stands
// where the merged cell begins.
func (p *parser) cell() (cell, error) {
	c := cell{span: 1}
	continued := false
	inner := parser{r: p.r, d: p.d, relations: p.relations}
	err := p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "tcPr":
			return p.d.Children(func(e xml.StartElement) error {
				switch e.Name.Local {
				case "gridSpan":
					c.span = min(max(ooxml.IntAttr(e, "val", 1), 1), maxSpan)
				case "vMerge", "hMerge":
					// Without a value it means "continue".
					continued = ooxml.Attr(e, "val") != "restart"
				}
				return p.d.Skip()
			})
		case "p":
			para, err := inner.paragraph()
			c.nodes = append(c.nodes, node{paragraph: para})
			return err
		case "tbl":
			t, err := p.table()
			c.nodes = append(c.nodes, node{table: t})
			return err
		case "sdt", "sdtContent", "customXml", "ins", "moveTo":
			nodes, err := inner.collect()
			c.nodes = append(c.nodes, nodes...)
			return err
		}
		return p.d.Skip()
	})
	if continued {
		c.nodes = nil
	}
	return c, err
}
