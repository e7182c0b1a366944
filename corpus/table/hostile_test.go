package table_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus/table"
)

func TestHostileTables(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("9,", 999) + "9\n"
	huge := "1" + strings.Repeat("0", 308)
	long := strings.Repeat("x", 32_767)
	for _, tt := range []struct {
		name, body string
		q          table.Query
		want       string
	}{
		{"formulas", "A,B\n=1+1,2\n\"=IMPORTDATA(\"\"x\"\")\",3\n", table.Query{Compute: compute(table.Sum, "A")},
			"no numbers in these rows"},
		{"not numbers", "A,B\nNaN,x\nInf,y\n-Inf,z\n1,w\n", table.Query{Compute: compute(table.Sum, "A")},
			"1 3 cells of the column “A” are no number"},
		{"large", "A,B\n1e308,x\n1e308,y\n" + huge + ",z\n", table.Query{Compute: compute(table.Sum, "A")}, "3e+308"},
		{"too large", "A,B\n1e9999,x\n1,y\n", table.Query{Compute: compute(table.Sum, "A")}, "no number"},
		{"long cell", "A,B\n" + long + ",x\n5,y\n", table.Query{Compute: compute(table.Sum, "A")}, "5 1 cell"},
		{"wide", "h" + wide + wide + wide, table.Query{Compute: compute(table.Sum, "B")}, "18"},
		{"no rows", "A,B\n", table.Query{}, "has no table"},
		{"no operator", "A,B\n1,2\n", table.Query{Where: where("A", "like", "1")}, "There is no operator “like”"},
		{"no values", "A,B\n1,2\n", table.Query{Where: where("A", table.Between, "1")}, "needs 2 value(s), not 1"},
	} {
		got := ask(t, read(t, "hostile.csv", tt.body), "en", tt.q)
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %.300s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestTruncatedTableIsNotSummed(t *testing.T) {
	t.Parallel()
	tables := read(t, "long.csv", "A,B\n"+strings.Repeat("1,2\n", 120_000))
	got := ask(t, tables, "en", table.Query{Compute: compute(table.Sum, "A")})
	if !strings.Contains(got, "would leave rows out") {
		t.Errorf("a sum: %s, want a refusal", got)
	}
	if got := ask(t, tables, "en", table.Query{Limit: 1}); !strings.Contains(got, "2 The table is longer") {
		t.Errorf("rows: %s, want the first row and a note", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := tables[0].Ask(ctx, table.Query{}, "en"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the cancellation: got %v, want context.Canceled", err)
	}
}

func TestSheetWithMaximumColumnsIsQueried(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "wide.xlsx")
	f := excelize.NewFile()
	defer f.Close()
	if _, err := f.NewSheet("Long"); err != nil {
		t.Fatal(err)
	}
	heads, row, long := make([]any, 16_384), make([]any, 16_384), make([]any, 16_384)
	for i := range heads {
		heads[i], row[i], long[i] = "h"+strconv.FormatInt(int64(i+1), 36), i%10, "a cell of many words"
	}
	row[1] = strings.Repeat("=x|y", 8191)
	for _, cells := range []struct {
		sheet, at string
		row       []any
	}{{"Sheet1", "A1", heads}, {"Sheet1", "A2", row}, {"Sheet1", "A3", row}, {"Long", "A1", long},
		{"Long", "A2", row}} {
		if err := f.SetSheetRow(cells.sheet, cells.at, &cells.row); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	tables := readFile(t, path)
	for column, want := range map[string]string{"hcn4": "6", "XFD": "6", "B": "no numbers in these rows"} {
		got := ask(t, tables, "en", table.Query{Sheet: "Sheet1", Compute: compute(table.Sum, column)})
		if !strings.Contains(got, want) {
			t.Errorf("the sum of %s: %.300s, want %s", column, got, want)
		}
	}
	got := ask(t, tables, "en", table.Query{Sheet: "Long", Compute: compute(table.Count, "")})
	if !strings.Contains(got, "would leave rows out") {
		t.Errorf("of a row that is too long: %.300s, want a refusal", got)
	}
}
