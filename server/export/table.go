package export

import (
	"bytes"
	"encoding/csv"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
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
var computed = lazy.Regexp(`([;\t\r\n])([=+\-@＝＋－＠])`)

// inert returns a text that spreadsheets do not evaluate.
func inert(text string) string {
	if first, _ := utf8.DecodeRuneInString(text); text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		text = "'" + text
	}
	return computed().ReplaceAllString(text, "$1'$2")
}

// source returns the address of a quote.
func (t Table) source(cite chat.Citation) string { return t.Origin + cite.URL }

// TableTypes are the media types of the table formats.
var TableTypes = map[string]string{
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "csv": "text/csv; charset=utf-8",
	"json": "application/json",
}
