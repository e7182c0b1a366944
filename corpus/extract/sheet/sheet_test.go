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
	"github.com/footnote/footnote/corpus/extract/sheet"
)

// workbook writes an Excel file that fill fills.
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

// shown are the blocks, a line each, with the rows and columns of tables.
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

func TestASheetIsTablesThatKnowTheirPlaces(t *testing.T) {
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

func TestAnOpenDocumentSheetRepeatsWhatItSays(t *testing.T) {
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

func TestHostileSheetsStaySmall(t *testing.T) {
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
