package table

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// DefaultRows and MaxRows are how many rows of a result are shown without a limit, and at most.
const (
	DefaultRows = 20
	MaxRows     = 100
)

// Query is a question about one table. Columns are named by their heads, in any case, or by their letters. A model
// fills it in. Conditions all hold; there is no "or" but In.
type Query struct {
	Sheet   string // name or number of the sheet or table; empty: the one that has the columns
	Where   []Condition
	GroupBy []string
	Compute []Aggregate
	OrderBy []Order
	Limit   int // rows of the result; 0: DefaultRows
}

// Condition is what a row must fulfil: all of a query's.
type Condition struct {
	Column string
	Op     Op
	Values []Value // one; of In any number, of Between two, of Empty and Filled none
}

// Value is what cells are compared with: Text as somebody writes it, or Number in the form of JSON.
type Value struct{ Text, Number string }

// Op is how a cell is compared.
type Op string

// The operators.
const (
	Equal    Op = "="
	Unequal  Op = "≠"
	Less     Op = "<"
	AtMost   Op = "≤"
	Greater  Op = ">"
	AtLeast  Op = "≥"
	Contains Op = "contains"
	In       Op = "in"
	Between  Op = "between" // both ends included
	Empty    Op = "empty"
	Filled   Op = "not empty"
)

// Aggregate is what is computed of a column.
type Aggregate struct {
	Function Function
	Column   string // may be empty for Count, which then counts rows
}

// Function is a way to compute.
type Function string

// The functions. Sum and Mean need numbers; Min and Max numbers or dates.
const (
	Count    Function = "count"
	Sum      Function = "sum"
	Mean     Function = "mean"
	Min      Function = "min"
	Max      Function = "max"
	Distinct Function = "distinct"
)

// Order puts rows in order by a column, or groups by what is computed of them: "sum of Amount".
type Order struct {
	Column     string
	Descending bool
}

// columns are the names of all columns of the table that a query needs.
func (q Query) columns() (names []string) {
	for _, c := range q.Where {
		names = append(names, c.Column)
	}
	names = append(names, q.GroupBy...)
	for _, a := range q.Compute {
		if a.Column != "" {
			names = append(names, a.Column)
		}
	}
	// With something to compute, an order may name a total, which is no column.
	if len(q.Compute) == 0 && len(q.GroupBy) == 0 {
		for _, o := range q.OrderBy {
			names = append(names, o.Column)
		}
	}
	return names
}

// Answer is what a query came to. Used and the rows of groups are what is cited: a result that can't be traced to its
// rows is worth little.
type Answer struct {
	Table   *Table
	Columns []int // of the table, that the query names, in the order of the table
	Matched int   // rows that fulfil the conditions
	Used    []Row // these rows, in order
	Shown   int   // how many of the used rows are to be shown
	Totals  []Total
	By      []string // titles of the columns of GroupBy
	Labels  []string // of what is computed
	Groups  []Group  // of a query with GroupBy, no more than asked for
	Parted  int      // how many groups there are
	Notes   []string // what a reader has to know, in sentences
}

// Group is the rows that have the same values in the columns of GroupBy.
type Group struct {
	Values []string // as they stand in the first row
	Totals []Total
	Rows   []Row
}

// asking is a query at work. It serves one call of Ask.
type asking struct {
	ctx    context.Context
	table  *Table
	query  Query
	lang   string
	known  map[int]*values
	answer Answer
}

// Ask answers a query. lang is the document's language, ISO 639-1 or empty. It fails with a Refusal for what can't be
// asked, and with the context's error when that ends. Nothing is computed of a table that was cut, as the result would
// be wrong without looking so.
func (t *Table) Ask(ctx context.Context, q Query, lang string) (Answer, error) {
	a := &asking{ctx: ctx, table: t, query: q, lang: lang, known: map[int]*values{}, answer: Answer{Table: t}}
	for _, name := range q.columns() {
		c, err := t.column(name)
		if err != nil {
			return Answer{}, err
		}
		// A column that does not exist fails before any row is read.
		a.answer.Columns = append(a.answer.Columns, c)
	}
	slices.Sort(a.answer.Columns)
	a.answer.Columns = slices.Compact(a.answer.Columns)
	if t.Cut && len(q.Compute) > 0 {
		return Answer{}, refuse("“%s” is longer than what is kept as a table: %d rows of it are. What is computed "+
			"would leave rows out. Ask for rows instead, or split the file.", text.Shorten(t.Name, 80), len(t.Rows))
	}
	rows, err := a.matching()
	if err != nil {
		return Answer{}, err
	}
	a.answer.Matched = len(rows)
	limit := cmp.Or(min(q.Limit, MaxRows), DefaultRows)
	switch {
	case len(q.GroupBy) > 0:
		err = a.group(rows, limit)
	case len(q.Compute) > 0:
		rows = a.withoutTotals(rows)
		if a.answer.Totals, err = a.compute(rows); err == nil {
			err = a.sort(rows)
		}
		a.answer.Used = rows
	default:
		err = a.sort(rows)
		a.answer.Used = rows
	}
	for _, g := range a.query.Compute {
		a.answer.Labels = append(a.answer.Labels, t.label(g))
	}
	a.answer.Shown = min(limit, len(a.answer.Used))
	if t.Cut {
		a.note("The table is longer than what is kept of it: the first %d rows were looked at.", len(t.Rows))
	}
	return a.answer, err
}

// note adds a sentence for the reader, once.
func (a *asking) note(format string, args ...any) {
	a.answer.Notes = text.AppendNew(a.answer.Notes, fmt.Sprintf(format, args...))
}

// valuesOf reads a column once.
func (a *asking) valuesOf(column int) *values {
	if a.known[column] == nil {
		a.known[column] = a.table.read(column, a.lang)
	}
	return a.known[column]
}

// matching are the rows that fulfil all conditions.
func (a *asking) matching() (rows []Row, err error) {
	tests := make([]test, len(a.query.Where))
	for i, c := range a.query.Where {
		if tests[i], err = a.testOf(c); err != nil {
			return nil, err
		}
	}
	// A table may have tens of thousands of rows (doctext.MaxCells), so that the context is looked at now and then.
	for i, r := range a.table.Rows {
		if i%1000 == 0 && a.ctx.Err() != nil {
			return nil, a.ctx.Err()
		}
		if !slices.ContainsFunc(tests, func(t test) bool { return !t.fits(r.Cell(t.column)) }) {
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// group computes for each group of rows. Values are compared without case and diacritics, and shown as the first row
// has them. Without anything to compute, rows are counted.
func (a *asking) group(rows []Row, limit int) error {
	var columns []int
	for _, name := range a.query.GroupBy {
		c, err := a.table.column(name)
		if err != nil {
			return err
		}
		columns = append(columns, c)
		a.answer.By = append(a.answer.By, a.table.Columns[c].Title())
	}
	if len(a.query.Compute) == 0 {
		a.query.Compute = []Aggregate{{Function: Count}}
	}
	rows = a.withoutTotals(rows)
	at := map[string]int{}
	for _, r := range rows {
		var names []string
		for _, c := range columns {
			names = append(names, oneLine(r.Cell(c)))
		}
		// A zero byte stands in no cell, so that "a", "bc" and "ab", "c" stay two groups.
		key := text.Fold(strings.Join(names, "\x00"))
		i, ok := at[key]
		if !ok {
			i = len(a.answer.Groups)
			at[key] = i
			a.answer.Groups = append(a.answer.Groups, Group{Values: names})
		}
		a.answer.Groups[i].Rows = append(a.answer.Groups[i].Rows, r)
	}
	for i := range a.answer.Groups {
		if a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		var err error
		if a.answer.Groups[i].Totals, err = a.compute(a.answer.Groups[i].Rows); err != nil {
			return err
		}
	}
	if err := a.sortGroups(columns); err != nil {
		return err
	}
	a.answer.Used, a.answer.Parted = rows, len(a.answer.Groups)
	a.answer.Groups = a.answer.Groups[:min(len(a.answer.Groups), limit)]
	return nil
}
