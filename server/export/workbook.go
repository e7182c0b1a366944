package export

import (
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/lazy"
)

// The sheets of a workbook.
const (
	tableSheet  = "Table"
	quotesSheet = "Quotes"
)

// XLSX encodes the table as a workbook: one sheet with a row for each document, whose cells link to their sources,
// and one with each quote. All cells are strings, so no text of a document is evaluated.
//
// The package is written here: excelize copies by reflection when it saves, for which the linker keeps every method
// of every type (11 MB).
func (t Table) XLSX() ([]byte, error) {
	return writePackage([]part{
		{"[Content_Types].xml", workbookTypes},
		{"_rels/.rels", relationsOpen + relation("r1", "officeDocument", "xl/workbook.xml") + "</Relationships>"},
		{"xl/workbook.xml", `<workbook ` + sheetSpaces + `><sheets>` +
			`<sheet name="` + tableSheet + `" sheetId="1" r:id="r1"/>` +
			`<sheet name="` + quotesSheet + `" sheetId="2" r:id="r2"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", relationsOpen + relation("r1", "worksheet", "worksheets/sheet1.xml") +
			relation("r2", "worksheet", "worksheets/sheet2.xml") + relation("r3", "styles", "styles.xml") +
			"</Relationships>"},
		{"xl/styles.xml", workbookStyles},
	}, t.tableSheet().parts(1), t.quotesSheet().parts(2))
}

// tableSheet returns the first sheet: documents as rows, questions as columns.
func (t Table) tableSheet() *sheet {
	s := &sheet{}
	head := []cell{{text: "Document"}}
	for _, c := range t.Grid.Columns {
		head = append(head, cell{text: c.Name})
	}
	s.add(headStyle, head...)
	cells := chat.ByPlace(t.Cells)
	for i, row := range t.Grid.Rows {
		line := []cell{{text: row.Title}}
		for j := range t.Grid.Columns {
			answer := cells.At(i, j)
			c := cell{text: cellText(answer)}
			if len(answer.Citations) > 0 {
				c.link = t.source(answer.Citations[0])
			}
			line = append(line, c)
		}
		s.add(bodyStyle, line...)
	}
	return s
}

// quotesSheet returns the second sheet: a row for each quote of each cell. The first sheet links only to the first.
func (t Table) quotesSheet() *sheet {
	s := &sheet{}
	s.add(headStyle, cell{text: "Document"}, cell{text: "Column"}, cell{text: "Text"}, cell{text: "Quote"},
		cell{text: "Place"}, cell{text: "Source"})
	cells := chat.ByPlace(t.Cells)
	for i, row := range t.Grid.Rows {
		for j, column := range t.Grid.Columns {
			answer := cells.At(i, j)
			for _, cite := range answer.Citations {
				source := t.source(cite)
				s.add(bodyStyle, cell{text: row.Title}, cell{text: column.Name}, cell{text: cellText(answer)},
					cell{text: cite.Quote}, cell{text: cite.PlaceWords()}, cell{text: source, link: source})
			}
		}
	}
	return s
}

// Cell formats in workbookStyles: both wrap, and the head is bold.
const (
	headStyle = 1
	bodyStyle = 2
)

// cell is a cell of a sheet. link is empty or an address.
type cell struct{ text, link string }

// sheet is a worksheet during encoding: its rows, its hyperlinks and their targets.
type sheet struct {
	rows, links, targets strings.Builder
	row, linked          int
}

// Excel's limits: characters of a cell, and hyperlinks of a sheet and characters of an address. Further links are
// left out, because Excel refuses a file with more.
const (
	excelCell    = 32_767
	excelLinks   = 65_530
	excelAddress = 2_079
)

// escaped matches text that Excel would decode as an escaped character (ECMA-376, part 1, 22.9.2.19).
var escaped = lazy.Regexp(`_(x[0-9A-Fa-f]{4}_)`)

// add appends a row. Texts are truncated to Excel's limit for a cell.
func (s *sheet) add(style int, cells ...cell) {
	s.row++
	fmt.Fprintf(&s.rows, `<row r="%d">`, s.row)
	for i, c := range cells {
		if runes := []rune(c.text); len(runes) > excelCell {
			c.text = string(runes[:excelCell-1]) + "…"
		}
		at := fmt.Sprint(columnName(i), s.row)
		fmt.Fprintf(&s.rows, `<c r="%s" s="%d" t="inlineStr"><is><t xml:space="preserve">%s</t></is></c>`,
			at, style, escape(escaped().ReplaceAllString(c.text, "_x005F_$1")))
		if c.link != "" && len(c.link) <= excelAddress && s.linked < excelLinks {
			s.linked++
			fmt.Fprintf(&s.links, `<hyperlink ref="%s" r:id="r%d"/>`, at, s.linked)
			fmt.Fprintf(&s.targets, `<Relationship Id="r%d" Type="%s/hyperlink" Target="%s" TargetMode="External"/>`,
				s.linked, relationTypes, escape(c.link))
		}
	}
	s.rows.WriteString("</row>")
}

// columnName returns the name of a column, counted from 0: A to Z, then AA.
func columnName(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return columnName(i/26-1) + columnName(i%26)
}

// parts returns the sheet's parts, for the n-th sheet of a workbook. Its first row is frozen.
func (s *sheet) parts(n int) []part {
	links := ""
	if s.linked > 0 {
		links = "<hyperlinks>" + s.links.String() + "</hyperlinks>"
	}
	return []part{
		{fmt.Sprintf("xl/worksheets/sheet%d.xml", n), `<worksheet ` + sheetSpaces + `><sheetViews>` +
			`<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>` +
			`</sheetView></sheetViews><sheetFormatPr defaultColWidth="32" defaultRowHeight="15"/><sheetData>` +
			s.rows.String() + `</sheetData>` + links + `</worksheet>`},
		{fmt.Sprintf("xl/worksheets/_rels/sheet%d.xml.rels", n),
			relationsOpen + s.targets.String() + "</Relationships>"},
	}
}

const (
	sheetSpaces = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="` + relationTypes + `"`
	sheetKinds  = "application/vnd.openxmlformats-officedocument.spreadsheetml."

	workbookTypes = `<Types xmlns="` + packageSpace + `/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="` + sheetKinds + `sheet.main+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + sheetKinds + `worksheet+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet2.xml" ContentType="` + sheetKinds + `worksheet+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="` + sheetKinds + `styles+xml"/></Types>`

	// workbookStyles has the cell formats: the required default, headStyle and bodyStyle.
	workbookStyles = `<styleSheet ` + sheetSpaces + `><fonts count="2">` +
		`<font><sz val="11"/><name val="Calibri"/></font>` +
		`<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill>` +
		`<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders>` +
		`<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/>` +
		`<xf fontId="1" applyFont="1" applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf>` +
		`<xf applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf></cellXfs></styleSheet>`
)

// relation refers from a part to another.
func relation(id, kind, target string) string {
	return `<Relationship Id="` + id + `" Type="` + relationTypes + `/` + kind + `" Target="` + target + `"/>`
}
