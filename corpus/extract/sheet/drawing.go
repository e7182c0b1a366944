package sheet

import (
	"encoding/xml"
	"errors"
	"io"

	"github.com/footnote/footnote/corpus/extract/ooxml"
)

// drawn returns the text in a sheet's drawings, in file order: the paragraphs of its text boxes, and the words of
// charts and diagrams. Values are not included, since they are in cells. Fallback elements are skipped, as they
// repeat the content for older programs. It reads at most about maxDrawn lines.
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
