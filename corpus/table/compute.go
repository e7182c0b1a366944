package table

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// mostMean is the maximum number of decimals of a mean.
const mostMean = 6

// Total is a computed value. Plain is for programs and Shown for people. value is nil for a date, which is in at.
type Total struct {
	Label string `json:"what"`           // "sum of Amount", "count"
	Plain string `json:"value"`          // as JSON without a unit: "4500.00"; dates in ISO 8601
	Shown string `json:"shown"`          // in the column's format: "4.500,00 €"
	Unit  string `json:"unit,omitempty"` // a currency, "%", …
	Exact bool   `json:"exact"`          // else rounded
	Cells int    `json:"cells"`          // number of cells that it was computed from
	value *big.Rat
	at    time.Time
}

// label returns the name of an aggregate. It uses the query's name for an unknown column, since a refusal may need
// the label.
func (t *Table) label(a Aggregate) string {
	if a.Column == "" {
		return string(a.Function)
	}
	c, err := t.column(a.Column)
	if err != nil {
		return string(a.Function) + " of " + a.Column
	}
	return string(a.Function) + " of " + t.Columns[c].Title()
}

// compute returns the query's aggregates of some rows, in the order of the query. Numbers of different units have
// separate totals.
func (a *askState) compute(rows []Row) (totals []Total, err error) {
	for _, g := range a.query.Compute {
		more, err := a.aggregate(g, rows)
		if err != nil {
			return nil, err
		}
		totals = append(totals, more...)
	}
	return totals, nil
}

// aggregate computes one function. Count and Distinct accept any cells, the others numbers or dates.
func (a *askState) aggregate(g Aggregate, rows []Row) ([]Total, error) {
	label := a.table.label(g)
	if g.Column == "" {
		if g.Function != Count {
			return nil, refuse("“%s” needs a column. The columns are: %s.", g.Function, a.table.listColumns(maxNamed))
		}
		if len(a.query.GroupBy) == 0 && len(rows) == 1 && a.isNamed(rows[0]) {
			a.note("Row %d is the only one with this name, so that there is nothing to count: its cells hold its "+
				"figures.", rows[0].Number)
			return nil, nil
		}
		return []Total{count(label, len(rows))}, nil
	}
	column, err := a.table.column(g.Column)
	if err != nil {
		return nil, err
	}
	switch g.Function {
	case Count, Distinct:
		// Compare cells without case, diacritics and white space, like conditions and groups.
		seen, filled := map[string]bool{}, 0
		for _, r := range rows {
			if cell := r.Cell(column); cell != "" {
				filled++
				seen[text.Fold(oneLine(cell))] = true
			}
		}
		if g.Function == Distinct {
			filled = len(seen)
		}
		return []Total{count(label, filled)}, nil
	case Sum, Mean, Min, Max, Difference:
		return a.totalsOf(g.Function, label, column, rows)
	}
	return nil, refuse("There is no function “%s”. There are: count, sum, mean, min, max, distinct, "+
		"difference.",
		text.Shorten(string(g.Function), 30))
}

// isNamed reports whether the only condition of the query is the name of a row with a number: each row has another
// value in its column. The number answers a question of how many, not the count of its rows.
func (a *askState) isNamed(row Row) bool {
	if len(a.query.Where) != 1 || len(a.table.Rows) < 2 || a.query.Where[0].Op != Equal {
		return false
	}
	column, err := a.table.column(a.query.Where[0].Column)
	if err != nil {
		return false
	}
	names := map[string]bool{}
	for _, r := range a.table.Rows {
		name := text.Fold(oneLine(r.Cell(column)))
		if names[name] {
			return false
		}
		names[name] = true
	}
	for c := range a.table.Columns {
		if c != column && isValueLike(row.Cell(c)) {
			return true
		}
	}
	return false
}

// count returns a Total for a number of rows or cells.
func count(label string, n int) Total {
	shown := fmt.Sprint(n)
	return Total{Label: label, Shown: shown, Plain: shown, Exact: true, Cells: n, value: big.NewRat(int64(n), 1)}
}

// accumulator accumulates the numbers of one unit. A sum of euros and dollars, or of hours and percentages, would be
// meaningless.
type accumulator struct {
	like     number // format of the first one
	decimals int    // maximum of the numbers
	sum      big.Rat
	least    *big.Rat
	most     *big.Rat
	cells    int
}

// totalsOf aggregates the numbers of a column, or for Min and Max its dates. It skips empty cells and notes cells
// that are not numbers. Without numbers the sum is 0 and there is no mean.
func (a *askState) totalsOf(f Function, label string, column int, rows []Row) ([]Total, error) {
	v := a.valuesOf(column)
	read := v.number
	// A column of dates supports only Min, Max and Difference, which need an order only.
	if f == Min || f == Max || f == Difference {
		if v.dates {
			return a.dates(f, label, v, rows)
		}
		read = v.leading
	}
	if err := v.refuseDoubt(false); err != nil {
		return nil, err
	}
	var pots []*accumulator
	var left []string // cells that are not numbers
	for _, r := range rows {
		cell := r.Cell(column)
		n, ok := read(cell)
		switch {
		case cell == "":
			continue
		case !ok:
			left = append(left, fmt.Sprintf("“%s” in row %d", text.Shorten(cell, 40), r.Number))
			continue
		}
		// A table has few units, so a list is fast enough, and it keeps their order.
		i := slices.IndexFunc(pots, func(p *accumulator) bool { return p.like.unit == n.unit })
		if i < 0 {
			i = len(pots)
			pots = append(pots, &accumulator{like: n, least: n.value, most: n.value})
		}
		pots[i].add(n)
	}
	title := text.Shorten(a.table.Columns[column].Title(), 60)
	// If no cell is a number, refuse the query; otherwise only note the other cells.
	if len(pots) == 0 && len(left) > 0 {
		return nil, refuse("The column “%s” has no numbers in these rows, but %s. “%s” needs numbers; count and "+
			"distinct take any cells.", title, strings.Join(left[:min(3, len(left))], ", "), f)
	}
	a.noteSkipped(title, left)
	if len(pots) > 1 {
		a.note("The column “%s” has numbers of different units, which are not added: each unit has its own result.",
			title)
	}
	if len(pots) == 0 {
		// The empty sum is exactly 0.
		if f == Sum {
			return []Total{{Label: label, Shown: "0", Plain: "0", Exact: true, value: new(big.Rat)}}, nil
		}
		a.note("No row has a number in the column “%s”: there is no %s.", title, f)
	}
	var totals []Total
	for _, p := range pots {
		totals = append(totals, p.total(f, label, v))
	}
	return totals, nil
}

// noteSkipped adds a note with the cells that are not numbers.
func (a *askState) noteSkipped(title string, left []string) {
	if len(left) > 0 {
		few := strings.Join(left[:min(3, len(left))], ", ")
		a.note("%s of the column “%s” %s no number and %s left out: %s%s.", english.Count(len(left), "cell"), title,
			english.Choose(len(left) == 1, "is", "are"), english.Choose(len(left) == 1, "was", "were"), few,
			english.Choose(len(left) > 3, " and others", ""))
	}
}

// add adds a number.
func (p *accumulator) add(n number) {
	p.cells++
	p.sum.Add(&p.sum, n.value)
	p.decimals = max(p.decimals, n.decimals)
	// One cell with grouped thousands is enough for the result to have them: small numbers have none to group.
	if n.grouped != 0 {
		p.like.grouped = n.grouped
	}
	if n.value.Cmp(p.least) < 0 {
		p.least = n.value
	}
	if n.value.Cmp(p.most) > 0 {
		p.most = n.value
	}
}

// total is a result with as many decimals as the numbers have; a mean has more if it needs them. A mean that ends
// within mostMean decimals is exact.
func (p *accumulator) total(f Function, label string, v *values) Total {
	t := Total{Label: label, Unit: p.like.unit, Cells: p.cells, Exact: true, value: new(big.Rat).Set(&p.sum)}
	decimals := p.decimals
	switch {
	case f == Min:
		t.value = p.least
	case f == Max:
		t.value = p.most
	case f == Difference:
		t.value = new(big.Rat).Sub(p.most, p.least)
	case f == Mean:
		t.value.Quo(t.value, big.NewRat(int64(p.cells), 1))
		// FloatPrec returns the number of decimals of a fraction; 1/3 has an infinite expansion, and is not exact.
		digits, exact := t.value.FloatPrec()
		if !exact {
			digits = mostMean
		}
		decimals = max(decimals, min(digits, mostMean))
		t.Exact = exact && digits <= decimals
	}
	t.Plain, t.Shown = decimal(t.value, decimals), v.show(t.value, p.like, decimals)
	return t
}

// dates returns the first or the last day of a column, formatted as in its cell, or the days between both.
func (a *askState) dates(f Function, label string, v *values, rows []Row) ([]Total, error) {
	if err := v.refuseDoubt(true); err != nil {
		return nil, err
	}
	// Compare days, but show the cell: a column may contain several date formats.
	var best, last date
	var left []string
	t := Total{Label: label, Exact: true}
	for _, r := range rows {
		cell := r.Cell(v.column)
		d, ok := v.date(cell)
		switch {
		case cell == "":
			continue
		case !ok:
			left = append(left, fmt.Sprintf("“%s” in row %d", text.Shorten(cell, 40), r.Number))
			continue
		}
		if t.Cells++; t.Cells == 1 || f != Max && d.at.Before(best.at) || f == Max && d.at.After(best.at) {
			best, t.Shown = d, cell
		}
		if d.at.After(last.at) {
			last = d
		}
	}
	a.noteSkipped(text.Shorten(a.table.Columns[v.column].Title(), 60), left)
	// Without dates there is no total, and no error: the selected rows may have none.
	if t.Cells == 0 {
		return nil, nil
	}
	if f == Difference {
		days := count(label, int(last.at.Sub(best.at).Hours()/24))
		days.Unit, days.Cells = "days", t.Cells
		days.Shown += " days"
		return []Total{days}, nil
	}
	t.at, t.Plain = best.at, best.at.Format(time.DateOnly)
	return []Total{t}, nil
}

// withoutTotals drops the table's last row if it is a total: each number in it is the sum of its column, and it
// lacks a cell that all other rows fill. Otherwise each sum would be doubled. A total row without an empty cell is
// only noted. Only a row of the result can be dropped.
func (a *askState) withoutTotals(rows []Row) []Row {
	// A table of two rows has no total row, and a condition may have dropped the last row already. Start identifies
	// a row by its offset.
	all := a.table.Rows
	n := len(rows)
	if n == 0 || len(all) < 3 || rows[n-1].Start != all[len(all)-1].Start {
		return rows
	}
	last, summed, lacks := all[len(all)-1], 0, false
	for c := range a.table.Columns {
		cell := last.Cell(c)
		if cell == "" {
			// A total row has no date or name, so it lacks a cell that every other row has.
			lacks = lacks || !slices.ContainsFunc(all[:len(all)-1], func(r Row) bool { return r.Cell(c) == "" })
			continue
		}
		if !isValueLike(cell) {
			continue
		}
		v := a.valuesOf(c)
		var sum big.Rat
		numbers := 0
		for _, r := range all[:len(all)-1] {
			if x, ok := v.number(r.Cell(c)); ok {
				numbers++
				sum.Add(&sum, x.value)
			}
		}
		// One column whose last number is not the sum means an ordinary row. A sum of 0 proves nothing.
		if x, ok := v.number(cell); ok && numbers > 1 {
			if x.value.Cmp(&sum) != 0 || sum.Sign() == 0 {
				return rows
			}
			summed++
		}
	}
	switch {
	case summed == 0:
		return rows
	case lacks:
		a.note("Row %d adds up the rows above it: it was left out.", last.Number)
		return rows[:n-1]
	default:
		a.note("Row %d holds the sum of the rows above it, and was counted like them: if it is a total, leave it out "+
			"with a condition.", last.Number)
		return rows
	}
}
