package sheet

import (
	"encoding/xml"
	"errors"
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/ooxml"
)

const maxDrawn = 10_000 // lines of text in a sheet's drawings

// binaryWorkbook is the failure of a workbook with binary sheets.
var binaryWorkbook = &corpus.Failure{Code: "unsupported",
	Detail: "Binary workbooks (.xlsb) are not supported. Save it as .xlsx and add the new file."}

// workbookParts reads the parts of a workbook that the library does not stream: the sheets' part names, merged cells
// and drawings. The file is open twice, here and in the library.
type workbookParts struct {
	*ooxml.Package
	sheets map[string]string // part names by sheet name

	recalculated bool // the workbook is to be recalculated when it is opened
	unstored     int  // formulas without a stored result
}

// openParts opens a workbook. It fails with a *corpus.Failure for other files.
func openParts(name string) (*workbookParts, error) {
	p, err := ooxml.Open(name)
	if err != nil {
		return nil, err
	}
	w := &workbookParts{Package: p, sheets: map[string]string{}}
	if err := w.findSheets(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return w, nil
}

// findSheets reads the part name of each sheet from the workbook's relationships. A .xlsb has binary parts instead
// of XML ([MS-XLSB]), which neither this package nor the library can read.
func (w *workbookParts) findSheets() error {
	main, relations, err := w.Main()
	if err != nil { // the library may find a workbook without a relationship
		return nil
	}
	if strings.HasSuffix(main, ".bin") {
		return binaryWorkbook
	}
	return w.Decode(main, func(d *ooxml.Decoder) error {
		var walk func(e xml.StartElement) error
		walk = func(e xml.StartElement) error {
			switch e.Name.Local {
			case "sheets":
				return d.Children(walk)
			case "calcPr":
				on := ooxml.Attr(e, "fullCalcOnLoad")
				w.recalculated = on == "1" || on == "true"
			case "sheet":
				w.sheets[ooxml.Attr(e, "name")] = relations[ooxml.Attr(e, "id")].Target
			}
			return d.Skip()
		}
		return d.Children(walk)
	})
}
