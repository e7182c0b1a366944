package table_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"footnote/corpus/table"
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

func TestATableThatIsLongerThanIsKeptIsNotAddedUp(t *testing.T) {
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
		t.Errorf("after it was stopped: %v", err)
	}
}
