package pptx

import (
	"encoding/xml"
	"strings"
)

// graphic parses a table, a chart or a diagram. Charts and diagrams are in separate parts. The frame around it has
// its position, like a shape.
func (t *tree) graphic(s *shape) error {
	err := t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "nvGraphicFramePr":
			return t.holder(s)
		case "xfrm":
			return t.transform(s)
		case "graphic", "graphicData":
			return t.graphicData(s)
		}
		return t.d.Skip()
	})
	t.add(s)
	return err
}

// graphicData parses the content of a frame. Other content, such as an embedded workbook, has no text.
func (t *tree) graphicData(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "graphicData":
			return t.graphicData(s)
		case "tbl":
			return t.table(s)
		}
		words, err := t.r.pack.GraphicLines(e, t.relations, true)
		if err != nil {
			return err
		}
		s.words = append(s.words, words...)
		return t.d.Skip()
	})
}

// table parses the rows of a table. The paragraphs of a cell become one line; merged cells except the first are
// empty.
func (t *tree) table(s *shape) error {
	return t.d.Children(func(e xml.StartElement) error {
		if e.Name.Local != "tr" {
			return t.d.Skip()
		}
		var row []string
		err := t.d.Children(func(e xml.StartElement) error {
			if e.Name.Local != "tc" {
				return t.d.Skip()
			}
			var cell shape
			err := t.d.Children(func(e xml.StartElement) error {
				if e.Name.Local == "txBody" {
					return t.text(&cell)
				}
				return t.d.Skip()
			})
			lines := make([]string, len(cell.paragraphs))
			for i, p := range cell.paragraphs {
				lines[i] = p.text
			}
			row = append(row, strings.Join(lines, " "))
			return err
		})
		s.rows = append(s.rows, row)
		return err
	})
}
