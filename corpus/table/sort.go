package table

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// sort sorts rows by the query's order: numbers and dates by value, before words; empty cells last. Cells are
// parsed once, before the comparison. The sort is stable.
func (a *askState) sort(rows []Row) error {
	a.query.OrderBy = slices.DeleteFunc(slices.Clone(a.query.OrderBy), func(o Order) bool {
		_, err := a.table.column(o.Column)
		// A column takes precedence over a total of the same name.
		return err != nil && a.totalNamed(o.Column) >= 0 // one row of totals needs no order
	})
	_, err := a.sortKeyed(rows)
	return err
}

// sortKeyed is sort, and returns the keys of each row by its start.
func (a *askState) sortKeyed(rows []Row) (map[int][]key, error) {
	if len(a.query.OrderBy) == 0 {
		return nil, nil
	}
	var columns []int
	for _, o := range a.query.OrderBy {
		c, err := a.table.column(o.Column)
		if err != nil {
			return nil, err
		}
		v := a.valuesOf(c)
		// An order by guessed numbers would look right and be wrong.
		if err := v.refuseDoubt(v.dates); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	// Parsing a cell takes much longer than comparing two keys, and sorting compares each row many times.
	keys := make(map[int][]key, len(rows))
	for _, r := range rows {
		for _, c := range columns {
			keys[r.Start] = append(keys[r.Start], a.valuesOf(c).key(r.Cell(c)))
		}
	}
	slices.SortStableFunc(rows, func(x, y Row) int { return a.compareKeys(keys[x.Start], keys[y.Start]) })
	return keys, nil
}

// pick returns the rows at the position of the query. Rows without a value in the order have no position.
func (a *askState) pick(rows []Row) ([]Row, error) {
	q := a.query
	if q.Pick == "" {
		return rows, nil
	}
	order := rows
	if q.Pick == Next || q.Pick == Previous {
		order = slices.Clone(a.table.Rows)
	}
	keys, err := a.sortKeyed(order)
	if err != nil {
		return nil, err
	}
	order = slices.DeleteFunc(order, func(r Row) bool {
		return slices.ContainsFunc(keys[r.Start], func(k key) bool { return k.kind == keyNone })
	})
	n := min(max(q.Limit, 1), MaxRows, len(order))
	ties := func(x, y Row) bool { return keys != nil && a.compareKeys(keys[x.Start], keys[y.Start]) == 0 }
	switch q.Pick {
	case First:
		for n > 0 && n < len(order) && ties(order[n-1], order[n]) {
			n++
		}
		return order[:n], nil
	case Last:
		for n > 0 && n < len(order) && ties(order[len(order)-n], order[len(order)-n-1]) {
			n++
		}
		return order[len(order)-n:], nil
	case Next, Previous:
		step := 1
		if q.Pick == Previous {
			step = -1
		}
		var beside []Row
		for i := range order {
			from := i - step
			if from >= 0 && from < len(order) &&
				slices.ContainsFunc(rows, func(r Row) bool { return r.Start == order[from].Start }) {
				beside = append(beside, order[i])
			}
		}
		return beside, nil
	}
	return nil, refuse("There is no position “%s”. There are: first, last, next, previous.",
		text.Shorten(string(q.Pick), 30))
}

// compareKeys compares sort keys, each ascending or descending. Empty cells come last either way.
func (a *askState) compareKeys(x, y []key) int {
	for i, o := range a.query.OrderBy {
		n := x[i].compare(y[i])
		// Descending also reverses the order of kinds; only empty cells stay last.
		if o.Descending && x[i].kind != keyNone && y[i].kind != keyNone {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return 0
}

// keyKind is the kind of a sort key; the constants are in sort order.
type keyKind int

const (
	keyNumber keyKind = iota
	keyDate
	keyWords
	keyNone
)

// key is the sort key of a cell.
type key struct {
	kind   keyKind
	number number
	date   date
	words  string
}

// key returns the sort key of a cell.
func (v *values) key(cell string) key {
	if cell == "" {
		return key{kind: keyNone}
	}
	// In a column of dates "2026" is a year.
	if n, ok := v.number(cell); ok && !v.dates {
		return key{kind: keyNumber, number: n}
	}
	if d, ok := v.date(cell); ok {
		return key{kind: keyDate, date: d}
	}
	if n, ok := v.leading(cell); ok {
		return key{kind: keyNumber, number: n}
	}
	return key{kind: keyWords, words: text.Fold(oneLine(cell))}
}

// compare orders by kind, then by number, date, or folded words.
func (k key) compare(o key) int {
	switch {
	case k.kind != o.kind:
		return int(k.kind) - int(o.kind)
	case k.kind == keyNumber:
		return k.number.value.Cmp(o.number.value)
	case k.kind == keyDate:
		return k.date.at.Compare(o.date.at)
	default:
		return strings.Compare(k.words, o.words)
	}
}

// sortGroups sorts groups by a column of GroupBy or by an aggregate. Without an order they stay in the order of
// their first rows. A name that is both means the column.
func (a *askState) sortGroups(columns []int) error {
	if len(a.query.OrderBy) == 0 {
		return nil
	}
	groups := a.answer.Groups
	keys := make([][]key, len(groups))
	for _, o := range a.query.OrderBy {
		c, err := a.table.column(o.Column)
		by := slices.Index(columns, c)
		// Other columns have one value for each row, so the name can only mean a total.
		if at := a.totalNamed(o.Column); (err != nil || by < 0) && at >= 0 {
			label := a.table.label(a.query.Compute[at])
			for i, g := range groups {
				keys[i] = append(keys[i], g.keyOf(label))
			}
			continue
		}
		if err != nil || by < 0 {
			return refuse("Groups can be put in order by what they are made of, and by what is computed: %s.",
				a.listLabels())
		}
		for i, g := range groups {
			keys[i] = append(keys[i], a.valuesOf(c).key(g.Values[by]))
		}
	}
	// Sort indexes rather than groups, so that groups and their keys stay together.
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return a.compareKeys(keys[x], keys[y]) })
	sorted := make([]Group, len(groups))
	for i, at := range order {
		sorted[i] = groups[at]
	}
	a.answer.Groups = sorted
	return nil
}

// keyOf returns the sort key of a group: the first total with the label.
func (g Group) keyOf(label string) key {
	for _, t := range g.Totals {
		switch {
		case t.Label != label:
		case t.value == nil:
			return key{kind: keyDate, date: date{at: t.at}}
		default:
			return key{kind: keyNumber, number: number{value: t.value}}
		}
	}
	return key{kind: keyNone}
}

// totalNamed returns the index of the aggregate that a name means, or -1. The name is its label, with or without
// “of”, its function if that is unique, or its column if that has one aggregate.
func (a *askState) totalNamed(name string) int {
	signs := strings.NewReplacer("(", " ", ")", " ", " of ", " ")
	plain := func(s string) string { return oneLine(signs.Replace(text.Fold(s))) }
	found, several := -1, false
	for i, g := range a.query.Compute {
		if plain(name) == plain(a.table.label(g)) {
			return i
		}
		if plain(name) == string(g.Function) || g.Column != "" && plain(name) == plain(g.Column) {
			several = found >= 0
			found = i
		}
	}
	if several {
		return -1
	}
	return found
}

// listLabels returns the names of the query's aggregates and groups.
func (a *askState) listLabels() string {
	var out []string
	for _, g := range a.query.Compute {
		out = append(out, a.table.label(g))
	}
	return strings.Join(append(out, a.query.GroupBy...), ", ")
}
