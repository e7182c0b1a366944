package sheet

import (
	"encoding/xml"
	"errors"
	"io"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// drawn returns the lines of what is drawn on a sheet: the paragraphs of its boxes, and of charts and diagrams their
// words. The values of a chart are those of cells. They are in the order of the file. Fallbacks repeat for older
// programs what stands before them. At most about maxDrawn lines are read.
func (w *workbookParts) drawn(sheet string) (lines []string, err error) {
	own, err := w.Relations(w.sheets[sheet])
	if err != nil {
		return nil, err
	}
	drawing := own.ByType("drawing")
	relations, err := w.Relations(drawing)
	if err != nil {
		return nil, err
	}
	err = w.Decode(drawing, func(d *ooxml.Decoder) error {
		for len(lines) < maxDrawn {
			token, err := d.Next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			e, ok := token.(xml.StartElement)
			if !ok {
				continue
			}
			var words []string
			switch e.Name.Local {
			case "txBody":
				words, err = d.Paragraphs()
			case "Fallback":
				err = d.Skip()
			default:
				words, err = w.GraphicLines(e, relations, false)
			}
			if err != nil {
				return err
			}
			lines = append(lines, words...)
		}
		return nil
	})
	return lines, err
}
