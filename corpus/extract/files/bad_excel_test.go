package files_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
)

const spreadsheetML = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
	`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`

var excel = pack{"bad.xlsx", []string{
	"_rels/.rels", ooxmltest.Relations("m", "officeDocument", "xl/workbook.xml"),
	"xl/workbook.xml", `<workbook ` + spreadsheetML + `><sheets><sheet name="Roof" sheetId="1" r:id="s"/></sheets>` +
		`</workbook>`,
	"xl/_rels/workbook.xml.rels", ooxmltest.Relations("s", "worksheet", "worksheets/sheet1.xml"),
	"xl/worksheets/sheet1.xml", `<worksheet ` + spreadsheetML +
		`><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>@` +
		`</t></is></c></row></sheetData></worksheet>`,
}, "xl/worksheets/sheet1.xml"}

func badExcel(t testing.TB) []bad {
	made := func(name, text string, parts ...string) bad {
		return bad{name, excel.file, excel.with(t, parts...), "", text}
	}
	refuses := func(name string, parts ...string) bad {
		return bad{name, excel.file, excel.with(t, parts...), damaged, ""}
	}
	rows := func(s string) string {
		return strings.Replace(excel.saying("The roof is dry."), "</sheetData>", s+"</sheetData>", 1)
	}
	after := func(s string) string {
		return strings.Replace(excel.saying("The roof is dry."), "</sheetData>", "</sheetData>"+s, 1)
	}
	const rels, bookRels = "xl/worksheets/_rels/sheet1.xml.rels", "xl/_rels/workbook.xml.rels"
	shared := ooxmltest.Relations("s", "worksheet", "worksheets/sheet1.xml", "t", "sharedStrings", "sharedStrings.xml",
		"y", "styles", "styles.xml")
	var wide, sheets, merges strings.Builder
	for i := range 16_384 {
		fmt.Fprintf(&wide, `<c><v>%d</v></c>`, i)
	}
	for i := range 5000 {
		fmt.Fprintf(&sheets, `<sheet name="S%d" sheetId="%d" r:id="s"/>`, i, i+2)
	}
	for i := range 100_000 {
		fmt.Fprintf(&merges, `<mergeCell ref="A1:A%d"/>`, 1_000_000+i%1000)
	}
	packages := badPackages(t, excel)
	for i := range packages {
		switch packages[i].name {
		case "a part that says it has 4 GB": // the library looks first
			packages[i].fate = damaged
		case "UTF-16 without a mark": // which the library does not read
			packages[i].fate, packages[i].text = damaged, ""
		case "an end that is missing": // behind all cells
			packages[i].fate, packages[i].text = "", "roof"
		}
	}
	return append(packages,
		made("a row of 16,384 columns", "16383", excel.main, rows(`<row r="2">`+wide.String()+`</row>`)),
		made("a cell of 32,767 characters", "xxx", excel.main,
			rows(`<row r="2"><c t="str"><v>`+strings.Repeat("x", 32_767)+`</v></c></row>`)),
		made("a billion shared strings that are not there", "roof", bookRels, shared, "xl/sharedStrings.xml",
			`<sst `+spreadsheetML+` count="1000000000" uniqueCount="1000000000"><si><t>a</t></si></sst>`, excel.main,
			rows(`<row r="2"><c t="s"><v>999999999</v></c><c t="s"><v>-1</v></c><c t="s"><v>0</v></c></row>`)),
		made("a shared string of 1 MB in 1,000 cells", "roof", bookRels, shared, "xl/sharedStrings.xml",
			`<sst `+spreadsheetML+`><si><t>a</t></si></sst>`, excel.main,
			rows(strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 1000))),
		refuses("shared strings that break off", bookRels, shared, "xl/sharedStrings.xml",
			`<sst `+spreadsheetML+`><si><t>a</t></si><si><t>b`, excel.main,
			rows(`<row r="2"><c t="s"><v>0</v></c><c t="s"><v>1</v></c></row>`)),
		bad{"shared strings of 36 MB that break off", excel.file, zipped(t, true, excel.changed(bookRels, shared,
			"xl/sharedStrings.xml", `<sst `+spreadsheetML+`><si><t>a</t></si><si><t>`+strings.Repeat("word ", 36<<20/5)+
				`</t></si><si><t>b`, excel.main, rows(`<row r="2"><c t="s"><v>0</v></c><c t="s"><v>2</v></c></row>`+
				``))...),
			damaged, ""},
		made("the last row alone", "last", excel.main,
			rows(`<row r="1048576"><c r="XFD1048576" t="str"><v>last</v></c></row>`)),
		refuses("a row beyond the last", excel.main,
			rows(`<row r="2147483647"><c r="A2147483647"><v>1</v></c></row>`)),
		refuses("cells in columns that are none", excel.main,
			rows(`<row r="2"><c r="ZZZZZZZZ2"><v>1</v></c><c r="-1"><v>1</v></c><c r=""><v>1</v></c></row>`)),
		made("merges of the whole sheet", "roof", excel.main,
			after(`<mergeCells><mergeCell ref="A1:XFD1048576"/><mergeCell ref="XFD1:A1"/><mergeCell ref="x:y"/><`+
				`/mergeCells>`)),
		made("100,000 merges over 20,000 rows", "roof", excel.main, strings.Replace(rows(strings.Repeat(
			`<row><c><v>1</v></c><c><v>2</v></c></row>`, 20_000)), "</sheetData>",
			"</sheetData><mergeCells>"+merges.String()+"</mergeCells>", 1)),
		made("one sheet under 5,000 names", "roof", "xl/workbook.xml",
			strings.Replace(excel.parts[3], "</sheets>", sheets.String()+"</sheets>", 1)),
		made("a drawing that is its sheet", "roof", rels, ooxmltest.Relations("d", "drawing", "sheet1.xml")),
		made("a sheet that is its own drawing and chart", "roof", rels,
			ooxmltest.Relations("d", "drawing", "d.xml"), "xl/worksheets/d.xml", `<x><chart r:id="d"/><txBody/></x>`,
			"xl/worksheets/_rels/d.xml.rels", ooxmltest.Relations("d", "chart", "d.xml")),
		refuses("formats that are nonsense", bookRels, shared, "xl/styles.xml", `<styleSheet `+spreadsheetML+
			`><numFmts><numFmt numFmtId="200" formatCode="`+strings.Repeat("[", 5000)+
			`"/><numFmt numFmtId="201" formatCode="`+
			strings.Repeat("0", 50_000)+`"/></numFmts><cellXfs><xf numFmtId="200"/><xf numFmtId="201"/></cellXfs><`+
			`/styleSheet>`,
			excel.main, rows(`<row r="2"><c s="0"><v>1</v></c><c s="1"><v>1</v></c><c s="99"><v>1</v></c><c `+
				`s="-1"><v>1</v></c></row>`)),
		made("days beyond the calendar", "roof", bookRels, shared, "xl/styles.xml", `<styleSheet `+spreadsheetML+
			`><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`, excel.main,
			rows(`<row r="2"><c s="0"><v>1e308</v></c><c s="0"><v>-1e308</v></c><c s="0"><v>NaN</v></c></row>`)),
	)
}
