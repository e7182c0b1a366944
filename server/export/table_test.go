package export

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/chat"
)

func someTable() Table {
	wrote := "-5 of what was agreed"
	cite := chat.Citation{Number: 1, Quote: "The notice period is 3 months.", Place: "p. 2", URL: "/d/d1?c=r.1"}
	return Table{
		Origin: "http://localhost:8080",
		Grid: chat.Grid{
			Name:    "Leases",
			Columns: []chat.GridColumn{{Name: "Notice"}, {Name: "=Rent"}},
			Rows:    []chat.GridRow{{DocumentID: "d1", Title: `Lease, "the mill"`}, {DocumentID: "d2", Title: "@home"}},
		},
		Cells: []chat.GridCell{
			{Row: 0, Column: 0, State: chat.CellFound, Text: "3 months", Citations: []chat.Citation{cite}},
			{Row: 0, Column: 1, State: chat.CellAbsent},
			{Row: 1, Column: 0, State: chat.CellFound, Text: "=cmd|' /C calc'!A0", Citations: []chat.Citation{cite}},
			{Row: 1, Column: 1, State: chat.CellAbsent, Edited: &wrote},
		},
	}
}

func TestTableAsCSV(t *testing.T) {
	file, err := someTable().CSV()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(file), "\ufeff"))).ReadAll()
	if err != nil || len(rows) != 3 || len(rows[0]) != 7 {
		t.Fatalf("rows = %q, %v", rows, err)
	}
	if rows[1][0] != `Lease, "the mill"` || rows[1][1] != "3 months" ||
		rows[1][2] != "The notice period is 3 months." ||
		rows[1][3] != "http://localhost:8080/d/d1?c=r.1" || rows[1][4] != "—" {
		t.Errorf("row = %q", rows[1])
	}
	for _, row := range rows {
		for _, text := range row {
			if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
				t.Errorf("text %q is a formula", text)
			}
		}
	}
	if rows[2][4] != "'-5 of what was agreed" {
		t.Errorf("edited cell = %q, want '-5 and its text", rows[2][4])
	}
}

func TestTableTextIsNotFormula(t *testing.T) {
	for text, want := range map[string]string{
		"=1": "'=1", "＝1+1": "'＝1+1", "\t=1": "'\t'=1", "rent;=1+1;x": "rent;'=1+1;x", "a\n-5": "a\n'-5",
		"a; -5 = b": "a; -5 = b", "3 months - or 4": "3 months - or 4", "": "",
	} {
		if got := inert(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
}

func TestTableAsWorkbook(t *testing.T) {
	file, err := someTable().XLSX()
	if err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	for at, want := range map[string]string{
		"A1": "Document", "C1": "=Rent", "B2": "3 months", "C2": "—", "B3": "=cmd|' /C calc'!A0",
		"C3": "-5 of what was agreed",
	} {
		got, err := book.GetCellValue(tableSheet, at)
		if got != want || err != nil {
			t.Errorf("%s = %q, %v; want %q", at, got, err, want)
		}
		if formula, err := book.GetCellFormula(tableSheet, at); formula != "" || err != nil {
			t.Errorf("%s has a formula: %q, %v", at, formula, err)
		}
	}
	if is, address, err := book.GetCellHyperLink(tableSheet, "B2"); !is || err != nil ||
		address != "http://localhost:8080/d/d1?c=r.1" {
		t.Errorf("link of B2 = %q, %v", address, err)
	}
	quotes, err := book.GetRows(quotesSheet)
	if err != nil || len(quotes) != 3 || quotes[1][3] != "The notice period is 3 months." || quotes[1][4] != "p. 2" {
		t.Errorf("quotes = %q, %v", quotes, err)
	}
}

func TestWorkbookKeepsTextsAndColumns(t *testing.T) {
	table := someTable()
	for i := range 30 {
		table.Grid.Columns = append(table.Grid.Columns, chat.GridColumn{Name: fmt.Sprint("_x0041_ ", i)})
	}
	table.Grid.Rows[0].Title = " <a & b>\n" + strings.Repeat("x", excelCell)
	file, err := table.XLSX()
	if err != nil {
		t.Fatal(err)
	}
	book, err := excelize.OpenReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	last, err := excelize.CoordinatesToCellName(len(table.Grid.Columns)+1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := book.GetCellValue(tableSheet, last); err != nil || got != "_x0041_ 29" {
		t.Errorf("%s = %q, %v; want the last column's name", last, got, err)
	}
	got, err := book.GetCellValue(tableSheet, "A2")
	if err != nil || !strings.HasPrefix(got, " <a & b>\nx") || len([]rune(got)) != excelCell {
		t.Errorf("A2 has %d characters, %.12q, %v; want %d", len([]rune(got)), got, err, excelCell)
	}
}
