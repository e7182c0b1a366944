package sheet_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ooxml/ooxmltest"
	"github.com/footnote/footnote/corpus/extract/sheet"
)

// A merged cell shows its value above each of its columns and beside each of its rows; a title over all is one cell.
func TestMergedCellsStandInEachRowAndColumn(t *testing.T) {
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

func TestWordsInBoxesComeAfterTheCells(t *testing.T) {
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

func TestABinaryWorkbookIsNotCalledDamaged(t *testing.T) {
	path := ooxmltest.Write(t, "book.xlsb", "xl/workbook.bin", ooxmltest.Parts{"xl/workbook.bin": "\x83\x01\x00"})
	_, err := sheet.ReadExcel(t.Context(), corpus.File{Path: path})
	if failure, ok := errors.AsType[*corpus.Failure](err); !ok || failure.Code != "unsupported" {
		t.Errorf("%v, want a failure with the code unsupported", err)
	}
}
