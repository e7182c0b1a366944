package table_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/table"
)

// read extracts the tables of a file like the library.
func read(t testing.TB, name, body string) []*table.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	return readFile(t, path)
}

func readFile(t testing.TB, path string) []*table.Table {
	t.Helper()
	x, err := extract.New(nil, nil).Extract(
		t.Context(), corpus.File{Path: path, Filename: filepath.Base(path)}, func(int, int) {},
	)
	if err != nil {
		t.Fatal(err)
	}
	return table.Read(x.Text, x.Blocks)
}

// ask runs a query on the table that it selects and returns the result in a line.
func ask(t testing.TB, tables []*table.Table, lang string, q table.Query) string {
	t.Helper()
	chosen, err := table.Choose(tables, q)
	if err != nil {
		return err.Error()
	}
	a, err := chosen.Ask(t.Context(), q, lang)
	if err != nil {
		return err.Error()
	}
	var said []string
	for _, total := range a.Totals {
		said = append(said, total.Shown)
	}
	for _, g := range a.Groups {
		said = append(said, strings.Join(g.Values, "+")+":"+g.Totals[0].Shown)
	}
	if len(q.Compute) == 0 && len(q.GroupBy) == 0 {
		for _, r := range a.Used[:a.Shown] {
			said = append(said, fmt.Sprint(r.Number))
		}
	}
	return strings.Join(append(said, a.Notes...), " ")
}

func where(column string, op table.Op, values ...string) []table.Condition {
	c := table.Condition{Column: column, Op: op}
	for _, v := range values {
		c.Values = append(c.Values, table.Value{Text: v})
	}
	return []table.Condition{c}
}

func compute(f table.Function, column string) []table.Aggregate {
	return []table.Aggregate{{Function: f, Column: column}}
}

const rents = "Flat;Tenant;Since;Rent;Share;Note\n" +
	"01;Weber;12.03.2024;1.234,50 €;25 %;\n02;Öztürk;01.11.2023;950,00 €;19 %;late\n" +
	"03;weber;30.06.2025;1.000,00 €;20,5 %;\n04;;15.01.2022;–;;empty\n"

func TestRowsMatchConditions(t *testing.T) {
	t.Parallel()
	tables := read(t, "rents.csv", rents)
	for _, tt := range []struct {
		where []table.Condition
		want  string
	}{
		{where("Tenant", table.Equal, "WEBER"), "2 4"},
		{where("b", table.Unequal, "Weber"), "3 5"},
		{where("Rent", table.Greater, "1000"), "2"},
		{where("Rent", table.AtLeast, "1.000,00 €"), "2 4"},
		{where("Rent", table.Less, "1000 $"), ""},
		{where("Rent", table.AtMost, "950"), "3"},
		{where("Rent", table.Between, "950", "1000"), "3 4"},
		{where("Share", table.Between, "20 %", "25"), "2 4"},
		{where("Since", table.Less, "2024"), "3 5"},
		{where("Since", table.Equal, "2024-03"), "2"},
		{where("Since", table.Greater, "12.03.2024"), "4"},
		{where("Since", table.Between, "2023-11-01", "2024-03-12"), "2 3"},
		{where("Tenant", table.In, "öztürk", "Nobody"), "3"},
		{where("Tenant", table.Contains, "ozt"), "3"},
		{where("Tenant", table.Empty), "5"},
		{where("Note", table.Filled), "3 5"},
		{where("Flat", table.Equal, "03"), "4"},
		{append(where("Tenant", table.Equal, "weber"), where("Since", table.AtLeast, "2025-01")...), "4"},
		{nil, "2 3 4 5"},
	} {
		if got := ask(t, tables, "de", table.Query{Where: tt.where}); got != tt.want {
			t.Errorf("%v: rows %s, want %s", tt.where, got, tt.want)
		}
	}
}

func TestNumbersKeepColumnFormat(t *testing.T) {
	t.Parallel()
	tables := read(t, "rents.csv", rents)
	left := " 1 cell of the column “Rent” is no number and was left out: “–” in row 5."
	for _, tt := range []struct {
		f            table.Function
		column, want string
	}{
		{table.Sum, "Rent", "3.184,50 €" + left},
		{table.Mean, "rent", "1.061,50 €" + left},
		{table.Min, "D", "950,00 €" + left},
		{table.Max, "Share", "25,0 %"},
		{table.Sum, "Share", "64,5 %"},
		{table.Min, "Since", "15.01.2022"},
		{table.Max, "Since", "30.06.2025"},
		{table.Count, "", "4"},
		{table.Count, "Tenant", "3"},
		{table.Distinct, "Tenant", "2"},
	} {
		if got := ask(t, tables, "de", table.Query{Compute: compute(tt.f, tt.column)}); got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.f, tt.column, got, tt.want)
		}
	}
}

func TestGroupsAreComputedAndSorted(t *testing.T) {
	t.Parallel()
	tables := read(t, "sales.csv", "Town,Kind,Amount,Day\nYork,a,$5,2026-01-02\n"+
		"Leeds,b,$7.50,2026-01-01\nYork,b,€3,2026-02-01\nleeds,a,$1.25,2026-03-01\n")
	for _, tt := range []struct {
		q    table.Query
		want string
	}{
		{table.Query{GroupBy: []string{"Town"}}, "York:2 Leeds:2"},
		{table.Query{
			GroupBy: []string{"town"}, Compute: compute(table.Sum, "Amount"),
			OrderBy: []table.Order{{Column: "sum of amount", Descending: true}},
		}, "Leeds:$8.75 York:$5 The column “Amount” has numbers of different units, which are not added: each unit " +
			"has its own result."},
		{table.Query{
			GroupBy: []string{"Town", "Kind"}, Compute: compute(table.Count, ""), Limit: 3,
			OrderBy: []table.Order{{Column: "Kind"}},
		}, "York+a:1 leeds+a:1 Leeds+b:1"},
		{table.Query{Compute: compute(table.Sum, "Amount")}, "$13.75 €3 The column “Amount” has numbers of different " +
			"units, which are not added: each unit has its own result."},
		{table.Query{OrderBy: []table.Order{{Column: "Day", Descending: true}}, Limit: 2}, "5 4"},
		{table.Query{GroupBy: []string{"Town"}, OrderBy: []table.Order{{Column: "Day"}}},
			"Groups can be put in order by what they are made of, and by what is computed: count, Town."},
	} {
		if got := ask(t, tables, "en", tt.q); got != tt.want {
			t.Errorf("%+v:\n%s, want\n%s", tt.q, got, tt.want)
		}
	}
}

func TestNumbersAndDatesParseByLanguage(t *testing.T) {
	t.Parallel()
	sum := func(cells ...string) string {
		return "Name;Value\n" + "x;" + strings.Join(cells, "\nx;") + "\n"
	}
	ambiguous := "can be read in two ways"
	for _, tt := range []struct {
		lang, body, column string
		f                  table.Function
		want               string
	}{
		{"de", sum("1.234,50 €", "2,50 €"), "Value", table.Sum, "1.237,00 €"},
		{"de", sum("1.234", "1.000"), "Value", table.Sum, "2.234"},
		{"en", sum("1,234", "1,000"), "Value", table.Sum, "2,234"},
		{"en", sum("1.234", "1.000"), "Value", table.Sum, "2.234"},
		{"", sum("1.234", "1.000"), "Value", table.Sum, ambiguous},
		{"", sum("1.234", "0.5"), "Value", table.Sum, "1.734"},
		{"de", sum("1.234", "0.5"), "Value", table.Sum, "1.734"},
		{"", sum("1.234", "1.5", "2,5"), "Value", table.Sum, ambiguous},
		{"", sum("1.5", "2,5"), "Value", table.Sum, "4.0"},
		{"fr", sum("1 234,50 €", "1 000,00 €"), "Value", table.Sum, "2 234,50 €"},
		{"fr", sum("1\u202f234,5", "1"), "Value", table.Sum, "1 235,5"},
		{"de", sum("CHF 1’234.50", "CHF 0.50"), "Value", table.Sum, "CHF 1'235.00"},
		{"es", sum("1.234,5", "3"), "Value", table.Sum, "1.237,5"},
		{"it", sum("€ 1.500", "€ 500"), "Value", table.Sum, "€ 2.000"},
		{"pl", sum("1 234,50 zł", "0,50 zł"), "Value", table.Sum, "1 235,00 zł"},
		{"pt", sum("R$ 1.234,50", "R$ 1,00"), "Value", table.Sum, "R$ 1.235,50"},
		{"ru", sum("1 234,50 ₽", "1,50 ₽"), "Value", table.Sum, "1 236,00 ₽"},
		{"ja", sum("１，２３４円", "5円"), "Value", table.Sum, "no number"},
		{"ja", sum("¥1,234", "¥5"), "Value", table.Sum, "¥1,239"},
		{"en", sum("12,34,567", "1"), "Value", table.Sum, "1,234,568"},
		{"en", sum("(1,200.50)", "-3", "10-", "−1"), "Value", table.Sum, "-1,214.50"},
		{"en", sum("12.5%", "7.5 %"), "Value", table.Mean, "10.0%"},
		{"en", sum("EUR 5", "5 EUR", "USD5"), "Value", table.Sum, "EUR 10 USD5 The column"},
		{"en", sum("007", "008"), "Value", table.Sum, "no number"},
		{"en", sum("1e3", "1.5E+2"), "Value", table.Sum, "1150"},
		{"en", sum("3/12/2026", "3/25/2026"), "Value", table.Max, "3/25/2026"},
		{"en", sum("3/12/2026", "25/3/2026"), "Value", table.Min, "25/3/2026"},
		{"en", sum("3/12/2026", "4/5/2026"), "Value", table.Max, ambiguous},
		{"fr", sum("3/12/2026", "4/5/2026"), "Value", table.Max, "3/12/2026"},
		{"nl", sum("03-12-2026", "04-05-2026"), "Value", table.Max, "03-12-2026"},
		{"nl", sum("03-12-26", "04-05-26"), "Value", table.Max, ambiguous},
		{"de", sum("3.12.2026", "04.05.2026"), "Value", table.Min, "04.05.2026"},
		{"en", sum("2026-03-12", "2025-12-31"), "Value", table.Min, "2025-12-31"},
		{"en", sum("12-Mar-26", "1 April 2025"), "Value", table.Max, "12-Mar-26"},
		{"en", sum("March 3, 2026", "2 May 2026"), "Value", table.Max, "2 May 2026"},
		{"de", sum("3. März 2026", "1. Oktober 2025"), "Value", table.Min, "1. Oktober 2025"},
		{"fr", sum("3 août 2026", "1er février 2026"), "Value", table.Max, "3 août 2026"},
		{"es", sum("3 de enero de 2026", "1 de diciembre de 2025"), "Value", table.Min, "1 de diciembre de 2025"},
		{"ru", sum("3 мая 2026", "1 января 2026"), "Value", table.Max, "3 мая 2026"},
		{"ja", sum("2026年3月12日", "2025年1月2日"), "Value", table.Min, "2025年1月2日"},
		{"en", sum("2026-03-12 10:30", "2026-03-12 9:05 PM"), "Value", table.Max, "2026-03-12 9:05 PM"},
	} {
		got := ask(t, read(t, "values.csv", tt.body), tt.lang, table.Query{Compute: compute(tt.f, tt.column)})
		if !strings.Contains(got, tt.want) || tt.want == ambiguous != strings.Contains(got, ambiguous) {
			t.Errorf("%s %q: %s is %s, want %s", tt.lang, tt.body, tt.f, got, tt.want)
		}
	}
}

// The sum of any table equals that of a reference computation, in any number format.
func TestSumsMatchReference(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		comma := r.IntN(2) == 0
		want, chosen := map[string]*big.Rat{}, new(big.Rat)
		body := "Group;Value;Text\n"
		for range 3 + r.IntN(200) {
			cents := big.NewInt(r.Int64N(2_000_000_000) - 1_000_000_000)
			value := new(big.Rat).SetFrac(cents, big.NewInt(100))
			cell := value.FloatString(2)
			if comma {
				cell = strings.Replace(cell, ".", ",", 1)
			}
			name := string(rune('a' + r.IntN(4)))
			if want[name] == nil {
				want[name] = new(big.Rat)
			}
			want[name].Add(want[name], value)
			if value.Sign() < 0 {
				chosen.Add(chosen, value)
			}
			body += name + ";" + cell + ";x\n"
		}
		tables := read(t, "random.csv", body)
		a, err := tables[0].Ask(t.Context(), table.Query{
			GroupBy: []string{"Group"}, Compute: compute(table.Sum, "Value"), Limit: 10,
		}, "")
		if err != nil || len(a.Groups) != len(want) {
			t.Fatalf("seed %d: %v, %d groups; want %d", seed, err, len(a.Groups), len(want))
		}
		for _, g := range a.Groups {
			if got, sum := g.Totals[0].Plain, want[g.Values[0]].FloatString(2); got != sum {
				t.Errorf("seed %d: the sum of %s is %s, want %s", seed, g.Values[0], got, sum)
			}
		}
		a, err = tables[0].Ask(t.Context(), table.Query{
			Where: where("Value", table.Less, "0"), Compute: compute(table.Sum, "Value"),
		}, "")
		if err != nil || len(a.Totals) != 1 || a.Used != nil && a.Totals[0].Plain != chosen.FloatString(2) {
			t.Errorf("seed %d: the sum below 0 is %+v, %v; want %s", seed, a.Totals, err, chosen.FloatString(2))
		}
	}
}

func TestSheetHasHeaderAndNoTotalRow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "book.xlsx")
	f := excelize.NewFile()
	defer f.Close()
	for at, row := range map[string][]any{
		"B2": {"Invoices 2026"}, "B3": {"Number", "Customer", "Amount", "Amount"}, "B4": {"A1", "Harrow", 10.5, 1},
		"B5": {"A2", "Harrow", 20, 2}, "B7": {"A3", "Miller", 5, 4}, "B8": {"A4", "Harrow", 4.5, 5}, "D9": {40, 12},
		"H3": {"Unit", "Price"}, "H4": {"kg", 3},
	} {
		if err := f.SetSheetRow("Sheet1", at, &row); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.NewSheet("Years"); err != nil {
		t.Fatal(err)
	}
	for at, row := range map[string][]any{"A1": {"Town", 2024, 2025}, "A2": {"York", 3, 4}, "A3": {"Leeds", 5, 6}} {
		if err := f.SetSheetRow("Years", at, &row); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	tables := readFile(t, path)
	for _, tt := range []struct {
		q    table.Query
		want string
	}{
		{table.Query{Sheet: "sheet1", Where: where("Customer", table.Equal, "Harrow")}, "4 5 8"},
		{table.Query{Sheet: "1", Compute: compute(table.Sum, "D")},
			"40.0 Row 9 adds up the rows above it: it was left out."},
		{table.Query{Sheet: "1", Compute: compute(table.Sum, "Amount")},
			"More than one column is called “Amount”: ask for D or E by its letter."},
		{table.Query{Compute: compute(table.Sum, "2025")}, "10"},
		{table.Query{Compute: compute(table.Max, "Cost")}, "None of the tables has all these columns. There are: " +
			"1 “Sheet1” (B Number, C Customer, D Amount, E Amount, H Unit, I Price); 2 “Years” (A Town, B 2024, " +
			"C 2025)."},
		{table.Query{}, "Several tables fit: say which with sheet, by its name or its number. There are: 1 “Sheet1” " +
			"(B Number, C Customer, D Amount, E Amount, H Unit, I Price); 2 “Years” (A Town, B 2024, C 2025)."},
	} {
		if got := ask(t, tables, "en", tt.q); got != tt.want {
			t.Errorf("%+v:\n%s, want\n%s", tt.q, got, tt.want)
		}
	}
}

// The header is below lines of words, one of which spans columns, and above cells with numbers.
func TestHeaderFollowsIntroductoryLines(t *testing.T) {
	t.Parallel()
	tables := read(t, "people.csv", "Some,people,,\nor,merging,merging,merging\nName,Work,Age,Town\n"+
		"Ann,singer,70,York\nBob,actor,61,Leeds\nAnd that is all,,,\n")
	if got := ask(t, tables, "en", table.Query{Where: where("Age", table.AtLeast, "70")}); got != "4" {
		t.Errorf("rows %s, want the 4th", got)
	}
}

func TestTextTablesAreQueried(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"fees.md": "# Fees\n\nText.\n\n| Kind | Fee |\n|---|---|\n| A | 3.50 |\n| B | 4 |\n\nMore text.\n",
		"fees.html": "<h1>Fees</h1><table><tr><th>Kind</th><th>Fee</th></tr><tr><td>A</td><td>3.50</td></tr>" +
			"<tr><td>B</td><td>4</td></tr></table><p>More text.</p>",
	} {
		tables := read(t, name, body)
		if got := ask(t, tables, "en", table.Query{Sheet: "fees", Compute: compute(table.Sum, "Fee")}); got != "7.50" {
			t.Errorf("%s: %s, want 7.50", name, got)
		}
		if len(tables) > 0 && tables[0].Rows[1].Number != 3 {
			t.Errorf("%s: the last row is %d, want 3", name, tables[0].Rows[1].Number)
		}
	}
}

func TestTotalRowLabels(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string][]string{
		"2026-03-12": {"2026-03-12", "12 March 2026", "March 12, 2026", "12.03.2026"},
		"12":         {"12"},
		"4500.50": {"4500.50", "4,500.50", "4.500,50", "4 500,50", "4\u00a0500,50", "4'500.50", "4500,50", "4500.5",
			"4,500.5", "4.500,5", "4 500,5", "4\u00a0500,5", "4'500.5", "4500,5"},
	} {
		if diff := cmp.Diff(want, table.Written(plain)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", plain, diff)
		}
	}
}

func BenchmarkAsk(b *testing.B) {
	const line = "Harrow,2026-03-12,\"1,234.50\",x,y\n"
	tables := read(b, "long.csv", "Name,Day,Amount,B,C\n"+strings.Repeat(line, 38_000))
	for b.Loop() {
		_, err := tables[0].Ask(b.Context(), table.Query{
			Where: where("Name", table.Equal, "harrow"), Compute: compute(table.Sum, "Amount"),
		}, "en")
		if err != nil {
			b.Fatal(err)
		}
	}
}

// The count of a row that its name selects says nothing: a question of how many asks for its figure.
func TestNamedRowIsNotCounted(t *testing.T) {
	const figures = "Figure,Value\nEmployees,47\nTrucks,12\nFounder,Ida\nBase,4 km\n"
	const orders = "Customer,Amount\nHarrow,1\nHarrow,2\nMiller,4\n"
	for _, tt := range []struct {
		body, column, name string
		op                 table.Op
		want               string
		notes              int
	}{
		{figures, "Figure", "employees", table.Equal, "", 1},
		{figures, "Figure", "Founder", table.Equal, "1", 0}, // it has no number
		{figures, "Figure", "Trucks", table.Unequal, "3", 0},
		{figures, "Figure", "Visitors", table.Equal, "0", 0},
		{orders, "Customer", "Miller", table.Equal, "1", 0},
	} {
		a, err := read(t, "a.csv", tt.body)[0].Ask(t.Context(), table.Query{
			Where:   []table.Condition{{Column: tt.column, Op: tt.op, Values: []table.Value{{Text: tt.name}}}},
			Compute: []table.Aggregate{{Function: table.Count}},
		}, "en")
		got := ""
		for _, total := range a.Totals {
			got += total.Shown
		}
		if err != nil || got != tt.want || len(a.Notes) != tt.notes || a.Shown != a.Matched {
			t.Errorf("%s %s %s: %q, %v, notes %q; want %q", tt.column, tt.op, tt.name, got, err, a.Notes, tt.want)
		}
	}
}

func TestRowsArePickedByPosition(t *testing.T) {
	t.Parallel()
	tables := read(t, "races.csv", "Race;Day;Winner;Points;Time;Height\nOslo;01.05.2024;Ann;10;3:05;900 m (2,953 ft)\n"+
		"Bern;09.05.2024;Bo;25;2:59;1200 m (3,937 ft)\nRome;12.05.2024;Ann;25;10:01;80 m (262 ft)\n"+
		"Lyon;20.05.2024;Cy;;2:58;1100 m (3,609 ft)\n")
	by := func(column string, descending bool) []table.Order {
		return []table.Order{{Column: column, Descending: descending}}
	}
	for _, tt := range []struct {
		name string
		q    table.Query
		want string // row numbers
	}{
		{"first", table.Query{Pick: table.First}, "2"},
		{"last two", table.Query{Pick: table.Last, Limit: 2}, "4 5"},
		{"last of those that match", table.Query{Pick: table.Last, Where: where("Winner", table.Equal, "ann")}, "4"},
		{"next", table.Query{Pick: table.Next, Where: where("Race", table.Equal, "Bern")}, "4"},
		{"next of several", table.Query{Pick: table.Next, Where: where("Winner", table.Equal, "Ann")}, "3 5"},
		{"next of the last", table.Query{Pick: table.Next, Where: where("Race", table.Equal, "Lyon")}, ""},
		{"previous", table.Query{Pick: table.Previous, Where: where("Race", table.Equal, "Bern")}, "2"},
		{"next in an order", table.Query{
			Pick: table.Next, Where: where("Race", table.Equal, "Oslo"), OrderBy: by("Time", false),
		}, "4"},
		{"highest, with a tie", table.Query{Pick: table.First, OrderBy: by("Points", true)}, "3 4"},
		{"lowest, without empty cells", table.Query{Pick: table.First, OrderBy: by("Points", false)}, "2"},
		{"shortest time", table.Query{Pick: table.First, OrderBy: by("Time", false)}, "5"},
		{"longest time", table.Query{Pick: table.Last, OrderBy: by("Time", false)}, "4"},
		{"numbers with two units", table.Query{Pick: table.First, OrderBy: by("Height", true)}, "3"},
		{"a bound of such numbers", table.Query{Where: where("Height", table.Greater, "1000")}, "3 5"},
		{"sum of the first two", table.Query{Pick: table.First, Limit: 2, Compute: compute(table.Sum, "Points")}, "35"},
		{"difference", table.Query{
			Where: where("Race", table.In, "Oslo", "Rome"), Compute: compute(table.Difference, "Points"),
		}, "15"},
		{"days between", table.Query{Compute: compute(table.Difference, "Day")}, "19 days"},
		{"difference of heights", table.Query{
			Where: where("Race", table.In, "Oslo", "Bern"), Compute: compute(table.Difference, "Height"),
		}, "300 m"},
	} {
		if got := ask(t, tables, "en", tt.q); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
