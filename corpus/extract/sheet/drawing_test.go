package sheet_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
	"github.com/footnote/footnote/corpus/extract/sheet"
)

// The words of a chart are those that people see: no values, which stand in the cells, and each label once.
func TestTheWordsOfChartsComeAfterTheCells(t *testing.T) {
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

// What is anchored in a sheet says its rows behind all cells.
func TestAnchorsAreNoRows(t *testing.T) {
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
