package offline

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
)

// queryTool asks tables.
const queryTool = "query_table"

// mostCellTerms is how many terms a cell has at most that names what a row is about; a longer one is a text.
const mostCellTerms = 5

// filter is what a question says of one column.
type filter struct {
	column string
	values []string // of cells
	whole  bool     // the values are whole cells, else parts of them
	not    bool     // the question says that it is otherwise
}

// asking is a question to a table, as far as its words say one.
type asking struct {
	function string // of query_table; empty: the rows are asked for
	word     string // of the question, that asks for it
	truth    bool   // the question names a column that says yes or no
	column   int    // of the table, that is computed; -1: none
	filters  []filter
}

// asksTable returns the call that computes what a question asks for of the table that its best quote is a row of. It
// needs a word that asks for a count, a total, a mean or an extreme, or a word that the words of a row can't answer: a
// negation, or the name of a column that says yes or no. Every other word of the question must name a column, a cell,
// or the table itself: of what it can't express nothing is computed. It asks once in a run, and never a table of which
// the head is uncertain, or of a text that came with the question: docs/decisions/offline.md.
func (t turn) asksTable(a answer) (step, bool) {
	if len(a.quotes) == 0 || !t.has(queryTool) || len(t.of(queryTool)) > 0 || len(t.given()) > 0 {
		return step{}, false
	}
	best := a.pile.units[a.quotes[0].first]
	if best.row == nil || best.row.table.unsure || best.row.table.head == nil {
		return step{}, false
	}
	var rows []unit
	for _, u := range a.pile.units {
		if a.pile.sameTable(best, u) && !u.names {
			rows = append(rows, u)
		}
	}
	wanted, ok := readAsking(t.question, a.words, best.row.table, rows, a.pile.around[best.source])
	if !ok {
		return step{}, false
	}
	return wanted.call(a.pile.sources[best.source], best.row.table.head), true
}

// readAsking reads a question as one to a table with such rows. around are the terms of the names of the table. Each
// word is tried in this order: a cell of one column, the name of a column, a word that asks, a small word, the table's
// name; the first word that is none of them ends it. A column that says yes or no becomes a filter by being named: “is
// paid” is Paid = yes. What has to be computed decides at the end which column it is computed of.
func readAsking(question string, words []word, t *table, rows []unit, around map[string]bool) (asking, bool) {
	tokens := tokensOf(question)
	a := asking{column: -1}
	a.function, a.word = functionOf(tokens)
	asked, small := tokensOf(a.word), text.SmallWords(question)
	var named []int
	// The first case that a word fits says what it is for; none ends the reading, as a total that leaves a condition
	// out would look right.
	for _, w := range words {
		if w.borrowed {
			continue
		}
		typed := text.Fold(w.typed)
		column, values := cellsWith(w, words, rows)
		switch {
		case column >= 0:
			f := filter{column: t.head[column], values: values.texts, whole: values.whole, not: negated(tokens, typed)}
			if f.not && !f.whole {
				return a, false
			}
			a.filters = addFilter(a.filters, f)
		case t.columnOf(w) >= 0:
			c := t.columnOf(w)
			positive, negative, ok := truthOf(rows, c)
			if !ok {
				named = append(named, c)
				break
			}
			f := filter{column: t.head[c], values: positive, whole: true, not: negated(tokens, typed)}
			if len(positive) == 0 {
				f.values, f.not = negative, !f.not
			}
			a.filters, a.truth = addFilter(a.filters, f), true
		case slices.Contains(asked, typed), slices.Contains(idle, typed), small(typed), w.in(around) > 0:
		default:
			return a, false
		}
	}
	// Without a condition and without a column the question is about the table as a whole, which quotes answer.
	if len(a.filters) == 0 && len(named) == 0 || a.leavesOut(tokens, rows) {
		return a, false
	}
	if a.function == "" {
		return a, a.truth || slices.ContainsFunc(a.filters, func(f filter) bool { return f.not })
	}
	if a.function == "count" {
		return a, !slices.ContainsFunc(named, func(c int) bool { return numbersIn(rows, c) })
	}
	a.column = t.amount(rows, named)
	return a, a.column >= 0
}

// leavesOut reports whether a question has a whole cell that is no filter: May is a small word, and a month.
func (a asking) leavesOut(tokens []string, rows []unit) bool {
	for _, r := range rows {
		for _, cell := range cellsOf(r.text) {
			said := text.Fold(cell)
			if cell != "" && slices.Contains(tokens, said) && !slices.ContainsFunc(a.filters, func(f filter) bool {
				return slices.ContainsFunc(f.values, func(v string) bool { return text.Fold(v) == said })
			}) {
				return true
			}
		}
	}
	return false
}

// foundCells are the cells of one column that have a word.
type foundCells struct {
	texts []string
	whole bool
}

// cellsWith finds the one column whose cells have a word; -1 if there is none, or more than one. The cells are whole
// values when the question has all of their terms. A word in two columns could mean either, so it means none.
func cellsWith(w word, words []word, rows []unit) (column int, cells foundCells) {
	column = -1
	for _, r := range rows {
		texts := cellsOf(r.text)
		for c, terms := range r.row.cells {
			if len(terms) == 0 || len(terms) > mostCellTerms || w.in(terms) < 1 {
				continue
			}
			if column >= 0 && column != c {
				return -1, foundCells{}
			}
			column = c
			whole := true
			for term := range terms {
				whole = whole && slices.ContainsFunc(words, func(o word) bool { return o.terms[term] == 1 })
			}
			if whole {
				cells.whole = true
				cells.texts = text.AppendNew(cells.texts, texts[c])
			}
		}
	}
	if column >= 0 && !cells.whole {
		cells.texts = []string{w.typed}
	}
	return column, cells
}

// addFilter adds what is said of a column to what was said of it before. Values of one column are alternatives: a
// question about Berlin and Munich means rows of both.
func addFilter(all []filter, f filter) []filter {
	i := slices.IndexFunc(all, func(o filter) bool { return o.column == f.column && o.whole == f.whole })
	if i < 0 {
		return append(all, f)
	}
	for _, v := range f.values {
		all[i].values = text.AppendNew(all[i].values, v)
	}
	all[i].not = all[i].not || f.not
	return all
}

// columnOf is the column that a word names best, -1 if it names none, or more than one as well.
func (t *table) columnOf(w word) int {
	found, best := -1, 0.0
	for c, terms := range t.has {
		switch worth := w.in(terms); {
		case worth > best:
			found, best = c, worth
		case worth == best:
			found = -1
		}
	}
	return found
}

// amount is the column that is to be computed: the one with numbers that the question names, else the only one there
// is; -1 without one.
func (t *table) amount(rows []unit, named []int) int {
	for _, c := range named {
		if numbersIn(rows, c) {
			return c
		}
	}
	found := -1
	for c := range t.head {
		if numbersIn(rows, c) {
			if found >= 0 {
				return -1
			}
			found = c
		}
	}
	return found
}

// numbersIn reports whether the cells of a column are numbers, as far as they are filled: amounts rather than codes,
// days and years, which nobody adds up. Half of the filled cells or less are no column of numbers.
func numbersIn(rows []unit, column int) bool {
	filled, numbers := 0, 0
	for _, r := range rows {
		cells := cellsOf(r.text)
		if column >= len(cells) || cells[column] == "" {
			continue
		}
		cell := cells[column]
		if filled++; isNumber(cell) && strings.Count(cell, "-")+strings.Count(cell, "/") < 2 &&
			strings.Count(cell, ".") < 2 {
			numbers++
		}
	}
	return 2*numbers > filled
}

// call is the question as a call of the tool. The sheet is the last part of the section before the column heads, where
// there is one. The largest and the smallest are asked for as a row too, by order and limit, since the row says more
// than its number.
func (a asking) call(src source, head []string) step {
	input := map[string]any{"document": src.document.DocID}
	if at := strings.Split(src.Section, "›"); len(at) > 0 {
		if columnsOf(src.Section) != nil {
			at = at[:len(at)-1]
		}
		if n := len(at); n > 0 && strings.TrimSpace(at[n-1]) != "" {
			input["sheet"] = strings.TrimSpace(at[n-1])
		}
	}
	var where []any
	for _, f := range a.filters {
		where = append(where, f.conditions()...)
	}
	if len(where) > 0 {
		input["where"] = where
	}
	if a.function == "" {
		input["limit"] = mostAsked
		return step{queryTool, input}
	}
	compute := map[string]any{"function": a.function}
	if a.column >= 0 {
		compute["column"] = head[a.column]
		if a.function == "min" || a.function == "max" {
			input["order_by"] = []any{map[string]any{"column": head[a.column], "descending": a.function == "max"}}
			input["limit"] = 1
		}
	}
	input["compute"] = []any{compute}
	return step{queryTool, input}
}

// conditions are a filter in the words of the tool.
func (f filter) conditions() (out []any) {
	if f.whole && !f.not && len(f.values) > 1 {
		return []any{map[string]any{"column": f.column, "op": "in", "value": f.values}}
	}
	op := "contains"
	if f.whole && f.not {
		op = "≠"
	} else if f.whole {
		op = "="
	}
	for _, v := range f.values {
		out = append(out, map[string]any{"column": f.column, "op": op, "value": v})
	}
	return out
}

// tokensOf are the words of a text in plain small letters.
func tokensOf(s string) []string {
	return strings.FieldsFunc(text.Fold(s), func(r rune) bool {
		return strings.ContainsRune(" \t\n.,;:!?¿¡\"“”„«»()'’", r)
	})
}
