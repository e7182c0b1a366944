package sheet

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"strings"

	"github.com/xuri/excelize/v2"

	"footnote/corpus"
	"footnote/corpus/extract/ooxml"
)

// Limits of what a sheet holds beside its cells.
const (
	maxMerges = 100_000 // of which one sheet takes part
	maxDrawn  = 10_000  // lines in what is drawn on a sheet
)

// binaryWorkbook is the failure of a workbook whose sheets are no XML.
var binaryWorkbook = &corpus.Failure{Code: "unsupported",
	Detail: "This is a binary workbook (.xlsb), which can't be read. Save it as .xlsx and add that."}

// workbookParts are the parts of a workbook that the library does not stream: where its sheets lie, which cells are
// merged, and the words in what is drawn.
type workbookParts struct {
	*ooxml.Package
	sheets map[string]string // names of parts by the names of sheets
}

// openParts opens a workbook. It fails with a *corpus.Failure for a file that is none.
func openParts(name string) (*workbookParts, error) {
	p, err := ooxml.Open(name)
	if err != nil {
		return nil, err
	}
	w := &workbookParts{p, map[string]string{}}
	if err := w.findSheets(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return w, nil
}

func (w *workbookParts) findSheets() error {
	main, relations, err := w.Main()
	if err != nil { // the library may find a workbook that no relation names
		return nil
	}
	if strings.HasSuffix(main, ".bin") {
		return binaryWorkbook
	}
	return w.Decode(main, func(d *ooxml.Decoder) error {
		var walk func(e xml.StartElement) error
		walk = func(e xml.StartElement) error {
			switch e.Name.Local {
			case "workbook", "sheets":
				return d.Children(walk)
			case "sheet":
				w.sheets[ooxml.Attr(e, "name")] = relations[ooxml.Attr(e, "id")].Target
			}
			return d.Skip()
		}
		return d.Root(walk)
	})
}

// merges returns the merged cells of a sheet by the row that they begin in. It looks for their elements only, which
// come after all cells: reading these a second time as XML would double the time of a large sheet.
func (w *workbookParts) merges(sheet string) (map[int][]merge, error) {
	name := w.sheets[sheet]
	if !w.Has(name) {
		return nil, nil
	}
	part, err := w.Part(name)
	if err != nil {
		return nil, err
	}
	defer part.Close()
	found := map[int][]merge{}
	lines := bufio.NewScanner(part)
	lines.Buffer(make([]byte, 64<<10), 1<<20)
	lines.Split(upToTag)
	for n := 0; n < maxMerges && lines.Scan(); {
		element, ok := bytes.CutPrefix(lines.Bytes(), []byte("mergeCell "))
		if !ok {
			continue
		}
		n++
		_, ref, _ := bytes.Cut(element, []byte(`ref="`))
		ref, _, _ = bytes.Cut(ref, []byte(`"`))
		from, to, isRange := strings.Cut(string(ref), ":")
		m := merge{}
		var errFrom, errTo error
		m.left, m.top, errFrom = excelize.CellNameToCoordinates(from)
		m.right, m.bottom, errTo = excelize.CellNameToCoordinates(to)
		if isRange && errFrom == nil && errTo == nil && m.left <= m.right && m.top <= m.bottom {
			found[m.top] = append(found[m.top], m)
		}
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, err
	}
	return found, nil
}

// upToTag is a bufio.SplitFunc that gives what stands between two "<", or a part of what is long.
func upToTag(data []byte, atEnd bool) (advance int, token []byte, err error) {
	const long = 32 << 10
	if i := bytes.IndexByte(data, '<'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if len(data) > long || atEnd && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
