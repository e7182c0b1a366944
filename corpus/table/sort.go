package table

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// sort puts rows in the query's order. Numbers and dates come by their size, before words; empty cells come last. Cells
// are read once for each row, before they are compared. Equal ones stay in the order of the table.
func (a *asking) sort(rows []Row) error {
	a.query.OrderBy = slices.DeleteFunc(slices.Clone(a.query.OrderBy), func(o Order) bool {
		_, err := a.table.column(o.Column)
		// A name that is a column stays, even if a total has it too.
		return err != nil && a.totalNamed(o.Column) >= 0 // one row of totals needs no order
	})
	if len(a.query.OrderBy) == 0 {
		return nil
	}
	var columns []int
	for _, o := range a.query.OrderBy {
		c, err := a.table.column(o.Column)
		if err != nil {
			return err
		}
		v := a.valuesOf(c)
		// An order by guessed numbers would look right and be wrong.
		if err := v.refuseDoubt(v.dates); err != nil {
			return err
		}
		columns = append(columns, c)
	}
	// Reading a cell takes much longer than comparing two keys, and sorting compares each row many times.
	keys := make(map[int][]key, len(rows))
	for _, r := range rows {
		for _, c := range columns {
			keys[r.Start] = append(keys[r.Start], a.valuesOf(c).key(r.Cell(c)))
		}
	}
	slices.SortStableFunc(rows, func(x, y Row) int { return a.compareKeys(keys[x.Start], keys[y.Start]) })
	return nil
}

// compareKeys compares keys in the order of the query, each up or down. What is empty comes last either way.
func (a *asking) compareKeys(x, y []key) int {
	for i, o := range a.query.OrderBy {
		n := x[i].compare(y[i])
		// Descending turns everything round, also which kind comes first; only what is empty stays last.
		if o.Descending && x[i].kind != keyNone && y[i].kind != keyNone {
			n = -n
		}
		if n != 0 {
			return n
		}
	}
	return 0
}

// keyKind is what a key is; the order of the constants is that of cells of different kinds.
type keyKind int

const (
	keyNumber keyKind = iota
	keyDate
	keyWords
	keyNone
)

// key is what a cell is put in order by.
type key struct {
	kind   keyKind
	number number
	date   date
	words  string
}

// key reads a cell.
func (v *values) key(cell string) key {
	if cell == "" {
		return key{kind: keyNone}
	}
	// In a column of dates "2026" is a year, and is put among the days.
	if n, ok := v.number(cell); ok && !v.dates {
		return key{kind: keyNumber, number: n}
	}
	if d, ok := v.date(cell); ok {
		return key{kind: keyDate, date: d}
	}
	return key{kind: keyWords, words: text.Fold(oneLine(cell))}
}

// compare puts smaller numbers, earlier dates and words in the order of their folded bytes first.
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

// sortGroups puts groups in the query's order: by a column that they are made of, or by what is computed. Without one
// they stay in the order of their first rows. A name that is both a column of the groups and a total means the column.
func (a *asking) sortGroups(columns []int) error {
	if len(a.query.OrderBy) == 0 {
		return nil
	}
	groups := a.answer.Groups
	keys := make([][]key, len(groups))
	for _, o := range a.query.OrderBy {
		c, err := a.table.column(o.Column)
		by := slices.Index(columns, c)
		// A column that the groups are not made of has one value for each row, so that a total is what can be meant.
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
	// Positions are sorted rather than groups, so that groups and their keys stay together.
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

// keyOf is what a group is put in order by: the first total of that label.
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

// totalNamed is the aggregate that a name means: its label, with or without “of”, its function if no other has it, or
// its column if nothing else is computed of that; -1 if none is meant.
func (a *asking) totalNamed(name string) int {
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

// listLabels names what the query computes.
func (a *asking) listLabels() string {
	var out []string
	for _, g := range a.query.Compute {
		out = append(out, a.table.label(g))
	}
	return strings.Join(append(out, a.query.GroupBy...), ", ")
}
