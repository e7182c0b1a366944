package sheet_test

import (
	"archive/zip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
	"github.com/footnote/footnote/corpus/extract/sheet"
)

// workbook writes an Excel file with the content that fill sets.
func workbook(t testing.TB, fill func(f *excelize.File)) corpus.File {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	fill(f)
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return corpus.File{Path: path, Filename: "book.xlsx"}
}

func set(t testing.TB, f *excelize.File, name, at string, values ...any) {
	t.Helper()
	if err := f.SetSheetRow(name, at, &values); err != nil {
		t.Fatal(err)
	}
}

// shown formats the blocks, one per line, with the rows and columns of tables.
func shown(x corpus.Extracted) (lines []string) {
	for _, b := range x.Blocks {
		at := ""
		if b.Grid != nil {
			at = fmt.Sprintf(" rows %v columns %v", b.Grid.Rows, b.Grid.Columns)
		}
		lines = append(lines, string(b.Kind)+" "+doctext.Slice(x.Text, b.Start, b.End)+at)
	}
	return lines
}

func TestSheetTablesHavePositions(t *testing.T) {
	x, err := sheet.ReadExcel(t.Context(), workbook(t, func(f *excelize.File) {
		set(t, f, "Sheet1", "B2", "Invoices 2026")
		set(t, f, "Sheet1", "B3", "Number", nil, "Due", "Amount", "Share")
		set(t, f, "Sheet1", "B4", "007", nil, 46085, 4500.5, 0.25)
		set(t, f, "Sheet1", "B6", "Name", "Town")
		set(t, f, "Sheet1", "B7", "Béla", "Győr")
		for at, format := range map[string]int{"D4": 14, "E4": 4, "F4": 9} {
			style, err := f.NewStyle(&excelize.Style{NumFmt: format})
			if err == nil {
				err = f.SetCellStyle("Sheet1", at, at, style)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.NewSheet("Secret"); err != nil {
			t.Fatal(err)
		}
		set(t, f, "Secret", "A1", "hidden words")
		if err := f.SetSheetVisible("Secret", false); err != nil {
			t.Fatal(err)
		}
	}))
	if err == nil {
		err = doctext.Check(x)
	}
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"heading Sheet1", "table Invoices 2026 rows [2] columns [2]",
		"table Number | Due | Amount | Share\n007 | 2026-03-04 | 4,500.50 | 25% rows [3 4] columns [2 4 5 6]",
		"table Name | Town\nBéla | Győr rows [6 7] columns [2 3]",
		"heading Secret", "table hidden words rows [1] columns [1]",
	}
	if diff := cmp.Diff(want, shown(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if got := x.Meta[corpus.MetaHidden]; got != "sheet Secret" {
		t.Errorf("hidden: %v, want the sheet", got)
	}
}

func TestOpenDocumentRepeatedCells(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book.ods")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	content, err := archive.Create("content.xml")
	if err == nil {
		_, err = content.Write(
			[]byte(
				`<o:document-content xmlns:o="o" xmlns:table="t" xmlns:text="x"><o:body><o:spreadsheet>` +
					`<table:table table:name="Rent">` +
					`<table:table-row table:number-rows-repeated="1048000"><table:table-cell ` +
					`table:number-columns-repeated="16384"/></table:table-row>` +
					`<table:table-row table:number-rows-repeated="2"><table:table-cell/><table:table-cell ` +
					`table:number-columns-repeated="2"><text:p>900</text:p><office:annotation><text:p>why` +
					`</text:p></office:annotation></table:table-cell></table:table-row>` +
					`</table:table></o:spreadsheet></o:body></o:document-content>`,
			),
		)
	}
	if err = errors.Join(err, archive.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	x, err := sheet.ReadOpenDocument(t.Context(), corpus.File{Path: path})
	if err == nil {
		err = doctext.Check(x)
	}
	want := []string{"heading Rent", "table 900 | 900\n900 | 900 rows [1048001 1048002] columns [2 3]"}
	if diff := cmp.Diff(want, shown(x)); err != nil || diff != "" {
		t.Errorf("%v, blocks (-want +got):\n%s", err, diff)
	}
}

func TestHostileSheetsUseBoundedMemory(t *testing.T) {
	wide := workbook(t, func(f *excelize.File) {
		row := make([]any, 16_384)
		for i := range row {
			row[i] = i
		}
		set(t, f, "Sheet1", "A1", row...)
		set(t, f, "Sheet1", "A9", strings.Repeat("x", 32_767))
	})
	x, err := sheet.ReadExcel(t.Context(), wide)
	if err == nil {
		err = doctext.Check(x)
	}
	if err != nil || len(x.Blocks) < 3 {
		t.Errorf("%d blocks, %v; want the row and the cell", len(x.Blocks), err)
	}
	broken := filepath.Join(t.TempDir(), "broken.xlsx")
	if err := os.WriteFile(broken, []byte("PK\x03\x04 no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = sheet.ReadExcel(t.Context(), corpus.File{Path: broken})
	if failure, ok := errors.AsType[*corpus.Failure](err); !ok || failure.Code != "broken" {
		t.Errorf("a broken file: %v, want a failure with the code broken", err)
	}
}

func BenchmarkReadExcel(b *testing.B) {
	const rows = 20_000
	file := workbook(b, func(f *excelize.File) {
		w, err := f.NewStreamWriter("Sheet1")
		for n := 1; n <= rows && err == nil; n++ {
			row := make([]any, 10)
			for i := range row {
				row[i] = n * i
			}
			err = w.SetRow(fmt.Sprintf("A%d", n), row)
		}
		if err == nil {
			err = w.Flush()
		}
		if err != nil {
			b.Fatal(err)
		}
	})
	for b.Loop() {
		if _, err := sheet.ReadExcel(b.Context(), file); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "rows/s")
}

// A merged cell's value is repeated in each of its columns and rows; a title over all columns is one cell.
func TestMergedCellsRepeatValue(t *testing.T) {
	x, err := sheet.ReadExcel(t.Context(), workbook(t, func(f *excelize.File) {
		set(t, f, "Sheet1", "A1", "Sales")
		set(t, f, "Sheet1", "A2", "Region", "Spring", nil, "Autumn")
		set(t, f, "Sheet1", "A3", "North", 1, 2, 3)
		set(t, f, "Sheet1", "B4", 4, 5, 6)
		set(t, f, "Sheet1", "A5", "South", 7, 8, 9)
		for _, m := range [][2]string{{"A1", "D1"}, {"B2", "C2"}, {"A3", "A4"}} {
			if err := f.MergeCell("Sheet1", m[0], m[1]); err != nil {
				t.Fatal(err)
			}
		}
	}))
	if err == nil {
		err = doctext.Check(x)
	}
	want := []string{
		"heading Sheet1",
		"table Sales rows [1] columns [1]",
		"table Region | Spring | Spring | Autumn\nNorth | 1 | 2 | 3\nNorth | 4 | 5 | 6\nSouth | 7 | 8 | 9 " +
			"rows [2 3 4 5] columns [1 2 3 4]",
	}
	if diff := cmp.Diff(want, shown(x)); err != nil || diff != "" {
		t.Errorf("%v, blocks (-want +got):\n%s", err, diff)
	}
}

func TestTextBoxesFollowCells(t *testing.T) {
	x, err := sheet.ReadExcel(t.Context(), workbook(t, func(f *excelize.File) {
		err := f.AddShape("Sheet1", &excelize.Shape{
			Cell: "B2", Type: "rect", Paragraph: []excelize.RichTextRun{{Text: "Paid in May"}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}))
	if err == nil {
		err = doctext.Check(x)
	}
	if diff := cmp.Diff([]string{"heading Sheet1", "paragraph Paid in May"}, shown(x)); err != nil || diff != "" {
		t.Errorf("%v, blocks (-want +got):\n%s", err, diff)
	}
}

func TestBinaryWorkbookIsNotReportedAsDamaged(t *testing.T) {
	path := ooxmltest.Write(t, "book.xlsb", "xl/workbook.bin", ooxmltest.Parts{"xl/workbook.bin": "\x83\x01\x00"})
	_, err := sheet.ReadExcel(t.Context(), corpus.File{Path: path})
	if failure, ok := errors.AsType[*corpus.Failure](err); !ok || failure.Code != "unsupported" {
		t.Errorf("%v, want a failure with the code unsupported", err)
	}
}

// The words of a chart exclude values, which are in the cells, and include each label once.
func TestChartWordsFollowCells(t *testing.T) {
	excel := workbook(t, func(f *excelize.File) {
		set(t, f, "Sheet1", "A1", "Year", "Rent", "Heating")
		set(t, f, "Sheet1", "A2", "2024", 900, 120)
		if _, err := f.NewSheet("Other"); err != nil {
			t.Fatal(err)
		}
		set(t, f, "Other", "A1", "last")
		words := func(s string) excelize.ChartTitle {
			return excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: s}}}
		}
		if err := f.AddChart("Sheet1", "E1", &excelize.Chart{
			Type:   excelize.Col,
			Title:  words("Costs of the flat"),
			XAxis:  excelize.ChartAxis{Title: words("Time")},
			YAxis:  excelize.ChartAxis{Title: words("Pounds a month")},
			Series: []excelize.ChartSeries{{Name: "Sheet1!$B$1", Values: "Sheet1!$B$2:$B$2"}},
		}); err != nil {
			t.Fatal(err)
		}
	})
	said := ooxmltest.Write(t, "book.xlsx", "xl/workbook.xml", ooxmltest.Parts{
		"xl/workbook.xml": `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="r">` +
			`<sheets><sheet name="Chart" sheetId="1" r:id="a"/></sheets>` +
			`</workbook>`,
		"xl/_rels/workbook.xml.rels":      ooxmltest.Relations("a", "chartsheet", "chartsheets/s.xml"),
		"xl/chartsheets/s.xml":            `<chartsheet xmlns:r="r"><drawing r:id="d"/></chartsheet>`,
		"xl/chartsheets/_rels/s.xml.rels": ooxmltest.Relations("d", "drawing", "../drawings/d.xml"),
		"xl/drawings/_rels/d.xml.rels": ooxmltest.Relations(
			"c", "chart", "../charts/c.xml", "g", "data", "../g.xml"),
		"xl/drawings/d.xml": `<w><graphicFrame><a:graphicData><c:chart r:id="c"/></a:graphicData>` +
			`</graphicFrame><dgm:relIds r:dm="g"/></w>`,
		"xl/g.xml": `<d><ptLst><pt><dgm:t><a:p><a:r><a:t>First the</a:t></a:r><a:r><a:t> roof</a:t></a:r>` +
			`</a:p></dgm:t></pt></ptLst></d>`,
		"xl/charts/c.xml": `<c:chartSpace><c:chart><c:title><c:tx><c:strRef><c:f>A1</c:f><c:strCache><c:pt>` +
			`<c:v>Rent</c:v></c:pt></c:strCache></c:strRef></c:tx></c:title><c:plotArea><c:barChart>` +
			series("Flat", "General") + series("House", "General") + series("Days", "yyyy") +
			`</c:barChart></c:plotArea></c:chart></c:chartSpace>`,
	})
	for _, tt := range []struct {
		name string
		read func() (corpus.Extracted, error)
		want []string
	}{
		{"of a workbook that a library made",
			func() (corpus.Extracted, error) { return sheet.ReadExcel(t.Context(), excel) },
			[]string{"heading Sheet1", "table Year | Rent | Heating\n2024 | 900 | 120 rows [1 2] columns [1 2 3]",
				"paragraph Costs of the flat", "paragraph Time", "paragraph Pounds a month", "heading Other",
				"table last rows [1] columns [1]"}},
		{"of a sheet that is a chart, and of a diagram",
			func() (corpus.Extracted, error) { return sheet.ReadExcel(t.Context(), corpus.File{Path: said}) },
			[]string{"heading Chart", "paragraph Rent", "paragraph Flat: 2024, 2025", "paragraph House",
				"paragraph Days", "paragraph First the roof"}},
		{"of an OpenDocument sheet",
			func() (corpus.Extracted, error) {
				return sheet.ReadOpenDocument(t.Context(), corpus.File{Path: openSheetWithChart(t)})
			},
			[]string{"heading Rent", "table 900 rows [1] columns [1]", "paragraph Costs", "paragraph Time",
				"paragraph Flat: 2024, 2025", "paragraph House", "paragraph In a box"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := tt.read()
			if err == nil {
				err = doctext.Check(x)
			}
			if diff := cmp.Diff(tt.want, shown(x)); err != nil || diff != "" {
				t.Errorf("%v, blocks (-want +got):\n%s", err, diff)
			}
		})
	}
}

// The anchor of an embedded object has row elements after all cells.
func TestAnchorsAreNotRows(t *testing.T) {
	const ns = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" ` +
		`xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	const anchor = `<oleObjects><anchor><from><xdr:row>12</xdr:row></from></anchor></oleObjects></worksheet>`
	path := ooxmltest.Write(t, "book.xlsx", "xl/workbook.xml", ooxmltest.Parts{
		"xl/workbook.xml": `<workbook ` + ns + `><sheets><sheet name="Roof" sheetId="1" r:id="a"/>` +
			`<sheet name="None" sheetId="2" r:id="b"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": ooxmltest.Relations("a", "worksheet", "worksheets/sheet1.xml", "b", "worksheet",
			"worksheets/sheet2.xml"),
		"xl/worksheets/sheet1.xml": `<worksheet ` + ns + `><sheetData><row r="1"><c r="A1"><v>4500</v></c></row>` +
			`</sheetData>` + anchor,
		"xl/worksheets/sheet2.xml": `<worksheet ` + ns + `><sheetData/>` + anchor,
	})
	x, err := sheet.ReadExcel(t.Context(), corpus.File{Path: path})
	want := []string{"heading Roof", "table 4500 rows [1] columns [1]"}
	if diff := cmp.Diff(want, shown(x)); err != nil || diff != "" {
		t.Errorf("%v, blocks (-want +got):\n%s", err, diff)
	}
}

func series(name, format string) string {
	return `<c:ser><c:tx><c:v>` + name + `</c:v></c:tx><c:cat><c:numRef><c:f>A2</c:f><c:numCache><c:formatCode>` +
		format + `</c:formatCode><c:pt><c:v>2024</c:v></c:pt><c:pt><c:v>2025</c:v></c:pt></c:numCache></c:numRef>` +
		`</c:cat><c:val><c:pt><c:v>8.5</c:v></c:pt></c:val></c:ser>`
}

func openSheetWithChart(t *testing.T) string {
	row := func(cells ...string) (row string) {
		for _, c := range cells {
			row += `<table:table-cell><text:p>` + c + `</text:p></table:table-cell>`
		}
		return `<table:table-row>` + row + `</table:table-row>`
	}
	return ooxmltest.Write(t, "book.ods", "content.xml", ooxmltest.Parts{
		"content.xml": `<o:document-content><o:body><o:spreadsheet><table:table table:name="Rent"><table:table-row>` +
			`<table:table-cell><text:p>900</text:p><draw:frame><draw:object xlink:href="./Object 1"/><draw:image/>` +
			`</draw:frame><draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame>` +
			`</table:table-cell></table:table-row></table:table></o:spreadsheet></o:body></o:document-content>`,
		"Object 1/content.xml": `<office:document-content><office:body><office:chart><chart:chart><chart:title>` +
			`<text:p>Costs</text:p></chart:title><chart:plot-area><chart:axis><chart:title><text:p>Time</text:p>` +
			`</chart:title><chart:categories/></chart:axis></chart:plot-area><table:table><table:table-header-rows>` +
			row("", "Flat", "House") + `</table:table-header-rows><table:table-rows>` + row("2024", "900", "1") +
			row("2025", "950", "2") + `</table:table-rows></table:table></chart:chart></office:chart></office:body>` +
			`</office:document-content>`,
	})
}
