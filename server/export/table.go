package export

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/chat"
)

// A Table is a grid with its cells for export. Origin is the prefix of the sources' addresses.
type Table struct {
	Grid   chat.Grid
	Cells  []chat.GridCell
	Origin string
}

// cellText returns a cell's text for an export. A question mark precedes the closest words, which may be no answer.
func cellText(cell chat.GridCell) string {
	switch {
	case cell.Edited == nil && cell.State == chat.CellAbsent:
		return "—"
	case cell.Edited == nil && cell.State == chat.CellClosest:
		return "? " + cell.Text
	default:
		return cell.Shown()
	}
}

// CSV encodes the table as comma-separated values (RFC 4180, in UTF-8 with a byte order mark, which Excel needs): a
// row for each document, and each column followed by its quote and the quote's address. A text that a spreadsheet
// would evaluate gets an apostrophe, the usual guard against formulas in CSV (OWASP, “CSV Injection”): a document's
// text must not be executed.
func (t Table) CSV() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("\ufeff")
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	// Three columns for each: the value, its quote, and the quote's address.
	head := []string{"Document"}
	for _, c := range t.Grid.Columns {
		head = append(head, inert(c.Name), inert(c.Name+": quote"), inert(c.Name+": source"))
	}
	if err := w.Write(head); err != nil {
		return nil, err
	}
	cells := chat.ByPlace(t.Cells)
	for i, row := range t.Grid.Rows {
		line := []string{inert(row.Title)}
		for j := range t.Grid.Columns {
			cell := cells.At(i, j)
			quote, source := "", ""
			if len(cell.Citations) > 0 {
				quote, source = cell.Citations[0].Quote, t.source(cell.Citations[0])
			}
			line = append(line, inert(cellText(cell)), inert(quote), source)
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// computed matches formula characters at the start of a cell or row, if a CSV is parsed with semicolons or tabs, as
// in many locales. Full-width characters count as well.
var computed = regexp.MustCompile(`([;\t\r\n])([=+\-@＝＋－＠])`)

// inert returns a text that spreadsheets do not evaluate.
func inert(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		text = "'" + text
	}
	return computed.ReplaceAllString(text, "$1'$2")
}

// source returns the address of a quote.
func (t Table) source(cite chat.Citation) string { return t.Origin + cite.URL }

// The sheets of a workbook.
const (
	tableSheet  = "Table"
	quotesSheet = "Quotes"
)

// excelCell is Excel's maximum number of characters in a cell.
const excelCell = 32_767

// XLSX encodes the table as a workbook: one sheet with a row for each document, whose cells link to their sources,
// and one with each quote. All cells are strings, so no text of a document is evaluated.
func (t Table) XLSX() (_ []byte, err error) {
	book := excelize.NewFile()
	defer func() {
		if closeErr := book.Close(); err == nil {
			err = closeErr
		}
	}()
	s := sheets{book: book}
	s.check(book.SetSheetName("Sheet1", tableSheet))
	_, err = book.NewSheet(quotesSheet)
	s.check(err)
	s.head, err = book.NewStyle(&excelize.Style{
		Font: &excelize.Font{Bold: true}, Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"},
	})
	s.check(err)
	s.body, err = book.NewStyle(&excelize.Style{Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}})
	s.check(err)
	t.writeTable(&s)
	t.writeQuotes(&s)
	if s.err != nil {
		return nil, s.err
	}
	out, err := book.WriteToBuffer()
	if err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// writeTable writes the first sheet: documents as rows, questions as columns.
func (t Table) writeTable(s *sheets) {
	s.text(tableSheet, 0, 0, "Document", s.head)
	for j, c := range t.Grid.Columns {
		s.text(tableSheet, j+1, 0, c.Name, s.head)
	}
	cells := chat.ByPlace(t.Cells)
	for i, row := range t.Grid.Rows {
		s.text(tableSheet, 0, i+1, row.Title, s.body)
		for j := range t.Grid.Columns {
			cell := cells.At(i, j)
			s.text(tableSheet, j+1, i+1, cellText(cell), s.body)
			if len(cell.Citations) > 0 {
				s.link(tableSheet, j+1, i+1, t.source(cell.Citations[0]))
			}
		}
	}
	s.widths(tableSheet, len(t.Grid.Columns)+1)
}

// writeQuotes writes the second sheet: a row for each quote of each cell.
func (t Table) writeQuotes(s *sheets) {
	for j, name := range []string{"Document", "Column", "Text", "Quote", "Place", "Source"} {
		s.text(quotesSheet, j, 0, name, s.head)
	}
	cells, line := chat.ByPlace(t.Cells), 0
	for i, row := range t.Grid.Rows {
		for j, column := range t.Grid.Columns {
			cell := cells.At(i, j)
			// The second sheet has all quotes of a cell; the first sheet links to the first.
			for _, cite := range cell.Citations {
				line++
				for k, text := range []string{
					row.Title, column.Name, cellText(cell), cite.Quote, cite.PlaceWords(), t.source(cite),
				} {
					s.text(quotesSheet, k, line, text, s.body)
				}
				s.link(quotesSheet, 5, line, t.source(cite))
			}
		}
	}
	s.widths(quotesSheet, 6)
}

// sheets writes to a workbook and keeps the first error.
type sheets struct {
	book       *excelize.File
	head, body int // styles
	err        error
}

// check stores the first error.
func (s *sheets) check(err error) {
	if s.err == nil {
		s.err = err
	}
}

// at returns the name of a cell, both counted from 0.
func (s *sheets) at(column, row int) string {
	name, err := excelize.CoordinatesToCellName(column+1, row+1)
	s.check(err)
	return name
}

// text writes a cell as a string in a style, counted from 0, truncated to Excel's limit for a cell.
func (s *sheets) text(sheet string, column, row int, text string, style int) {
	if s.err != nil {
		return
	}
	if runes := []rune(text); len(runes) > excelCell {
		text = string(runes[:excelCell-1]) + "…"
	}
	at := s.at(column, row)
	s.check(s.book.SetCellStr(sheet, at, text))
	s.check(s.book.SetCellStyle(sheet, at, at, style))
}

// link sets a cell's hyperlink.
func (s *sheets) link(sheet string, column, row int, address string) {
	if s.err == nil {
		s.check(s.book.SetCellHyperLink(sheet, s.at(column, row), address, "External"))
	}
}

// widths sets the widths of the columns and freezes the first row.
func (s *sheets) widths(sheet string, columns int) {
	last, err := excelize.ColumnNumberToName(columns)
	s.check(err)
	s.check(s.book.SetColWidth(sheet, "A", last, 32))
	s.check(s.book.SetPanes(sheet, &excelize.Panes{
		Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft",
	}))
}

// TableTypes are the media types of the table formats.
var TableTypes = map[string]string{
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "csv": "text/csv; charset=utf-8",
	"json": "application/json",
}
