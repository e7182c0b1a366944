package docx

import (
	"encoding/xml"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// parser parses the XML of one part into nodes. Each method starts after a start tag and reads to the element's end,
// see ooxml.Decoder.
type parser struct {
	r         *reader
	d         *ooxml.Decoder
	relations ooxml.Relations
	fields    []field
}

// field is a field that is being parsed. Its result is displayed, its instruction is not.
type field struct {
	instruction string
	result      bool   // the following text is the result
	shown       string // displayed instead of a missing result
}

// blocks parses the paragraphs and tables inside the current element, and calls emit for each complete one. It
// descends into content controls, custom XML and insertions. A paragraph whose mark was deleted is not emitted: its
// content is prepended to that of the next one.
func (p *parser) blocks(emit func(node) error) error {
	var carried paragraph
	return p.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "p":
			para, err := p.paragraph()
			if err != nil {
				return err
			}
			// The later paragraph's style and list apply to the carried runs.
			para.runs = append(carried.runs, para.runs...)
			para.notes = append(carried.notes, para.notes...)
			para.boxes = append(carried.boxes, para.boxes...)
			if carried = (paragraph{}); para.joined {
				carried = *para
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
		case "altChunk":
			for _, n := range p.chunk(e) {
				if err := emit(n); err != nil {
					return err
				}
			}
		case "AlternateContent":
			return p.alternative(func() error { return p.blocks(emit) })
		}
		return p.d.Skip()
	})
}

// alternative reads the first of several alternatives of the same content. AlternateContent (ECMA-376 part 3) has
// the one for newer programs first and a fallback for older ones after it. Reading both would duplicate the text.
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

// collect returns the nodes inside an element for writing them later.
func (p *parser) collect() (nodes []node, err error) {
	err = p.blocks(func(n node) error {
		nodes = append(nodes, n)
		return nil
	})
	return nodes, err
}

// table parses a whole tbl element (§17.4), because a layout table is detected only at its end.
func (p *parser) table() (*table, error) {
	t := &table{}
	err := p.rows(t)
	return t, err
}

// rows parses the rows of a table (§17.4). Rows with a tracked deletion are counted and skipped. The context is
// checked after each row, as a table may be the whole document.
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

// maxSpan prevents a malicious span from exhausting memory.
const maxSpan = 100 // columns of one cell

// cells parses the cells of a row. Leading skipped columns (gridBefore) become one empty cell.
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

// cell parses one cell. A continued cell of a merged range (vMerge, hMerge) is empty: its text is in the first cell.
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
					// The default value is "continue".
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
		case "altChunk":
			c.nodes = append(c.nodes, p.chunk(e)...)
		}
		return p.d.Skip()
	})
	if continued {
		c.nodes = nil
	}
	return c, err
}
