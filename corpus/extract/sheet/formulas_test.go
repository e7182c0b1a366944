package sheet_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
	"github.com/footnote/footnote/corpus/extract/sheet"
)

// Programs that write workbooks don't calculate their formulas. No such cell is empty, or a result of 0.
func TestFormulasWithoutResults(t *testing.T) {
	const (
		main          = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
		relationships = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
	)
	const note, load = "results of %d that no program has calculated", `<calcPr fullCalcOnLoad="1"/>`
	cell := func(f, rest string) string {
		return `<row r="1"><c r="A1" t="inlineStr"><is><t>Sum</t></is></c><c r="C1"` + f + `>` + rest + `</c></row>`
	}
	for _, tt := range []struct{ name, rows, calc, want, left string }{
		{"openpyxl", cell(``, `<f>SUM(D2:D4)</f><v></v>`), load, "Sum | =SUM(D2:D4)", "1 formula"},
		{"Apache POI and ClosedXML", cell(``, `<f>IF(A2&lt;3,"a","b")</f>`), "", `Sum | =IF(A2<3,"a","b")`, "1 " +
			"formula"},
		{"older openpyxl", cell(``, `<f>B2*C2</f><v/>`), "", "Sum | =B2*C2", "1 formula"},
		{"EPPlus, in a group", cell(``, `<f t="shared" si="0"/>`), "", "Sum | =…", "1 formula"},
		{"XlsxWriter stores 0", cell(``, `<f>B2*C2</f><v>0</v>`), load, "Sum | =B2*C2", "1 formula"},
		{"a result of 0", cell(``, `<f>B2*C2</f><v>0</v>`), "", "Sum | 0", ""},
		{"a result of 0 among others", cell(``, `<f>B2*C2</f><v>0</v>`) + `<row r="2"><c ` +
			`r="C2"><f>1+1</f><v>2</v></c></row>`,
			load, "Sum | 0\n | 2", ""},
		{"a result", cell(``, `<f>B2*C2</f><v>12.5</v>`), load, "Sum | 12.5", ""},
		{"an empty text as the result", cell(` t="str"`, `<f>IF(A1="","","x")</f><v></v>`), "", "Sum", ""},
		{"a row of formulas alone", `<row r="1"><c r="A1"><f>1+1</f></c><c r="B1"><f>2+2</f></c></row>`, "",
			"=1+1 | =2+2", "2 formulas"},
		{"prefixes", strings.NewReplacer("</", "</x:", "<", "<x:").Replace(cell(``, `<f>B2</f><v></v>`)), "",
			"Sum | =B2", "1 formula"},
	} {
		path := ooxmltest.Write(t, "a.xlsx", "xl/workbook.xml", ooxmltest.Parts{
			"xl/workbook.xml": `<workbook xmlns="` + main + `" xmlns:r="` + relationships + `"><sheets>` +
				`<sheet name="Bill" sheetId="1" r:id="s"/></sheets>` + tt.calc + `</workbook>`,
			"xl/_rels/workbook.xml.rels": ooxmltest.Relations("s", "worksheet", "worksheets/sheet1.xml"),
			"xl/worksheets/sheet1.xml": `<worksheet xmlns="` + main + `" xmlns:x="` + main + `"><sheetData>` + tt.rows +
				`</sheetData></worksheet>`,
		})
		x, err := sheet.ReadExcel(t.Context(), corpus.File{Path: path})
		if err == nil {
			err = doctext.Check(x)
		}
		if err != nil {
			t.Errorf("%s: %v, want no error", tt.name, err)
			continue
		}
		if want := "Bill\n\n" + tt.want; x.Text != want {
			t.Errorf("%s: %q, want %q", tt.name, x.Text, want)
		}
		left, _ := x.Meta[corpus.MetaLeftOut].(string)
		if want := strings.ReplaceAll(note, "%d", tt.left); tt.left == "" && left != "" || tt.left != "" && left !=
			want {
			t.Errorf("%s: left out %q, want %q", tt.name, left, want)
		}
	}
}

func TestOpenDocumentFormulasWithoutResults(t *testing.T) {
	x, err := sheet.ReadOpenDocument(t.Context(), corpus.File{Path: ooxmltest.Write(t, "a.ods", "", ooxmltest.Parts{
		"mimetype": "application/vnd.oasis.opendocument.spreadsheet",
		"content.xml": `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x"><office:body>` +
			`<office:spreadsheet><table:table table:name="Bill"><table:table-row>` +
			`<table:table-cell><text:p>Sum</text:p></table:table-cell>` +
			`<table:table-cell table:formula="of:=SUM([.B2:.B4])"/>` +
			`<table:table-cell table:formula="of:=IF(1;&quot;&quot;)" office:value-type="string"/>` +
			`<table:table-cell table:formula="of:=[.B2]" office:value-type="float" ` +
			`office:value="2"><text:p>2</text:p>` +
			`</table:table-cell></table:table-row></table:table></office:spreadsheet></office:body>` +
			`</office:document-content>`,
	})})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"heading Bill", "table Sum | =SUM(B2:B4) | 2 rows [1] columns [1 2 4]"}
	if diff := cmp.Diff(want, shown(x)); diff != "" || x.Meta[corpus.MetaLeftOut] == nil {
		t.Errorf("left out %v; -want +got\n%s", x.Meta[corpus.MetaLeftOut], diff)
	}
}
