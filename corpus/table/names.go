package table

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// maxNamed is the maximum number of names listed in a refusal.
const maxNamed = 30

// Refusal is a message on why a query can't be answered, and what to ask instead. It is an error that the tool
// passes to the model as text.
type Refusal string

// Error returns the message.
func (r Refusal) Error() string { return string(r) }

func refuse(format string, args ...any) error { return Refusal(fmt.Sprintf(format, args...)) }

// tableName returns the name of a table without a heading.
func tableName(i, all int) string {
	if all == 1 {
		return "table"
	}
	return "table " + strconv.Itoa(i+1)
}

// Choose selects the table of a query: by its name or number, else the only one with all columns of the query. It
// returns a Refusal that lists the tables otherwise. Names are compared without case and diacritics.
func Choose(tables []*Table, q Query) (*Table, error) {
	if len(tables) == 0 {
		return nil, refuse("The document has no table.")
	}
	fit := tables
	if q.Sheet != "" {
		fit = nil
		for i, t := range tables {
			if text.Fold(t.Name) == text.Fold(oneLine(q.Sheet)) || q.Sheet == strconv.Itoa(i+1) ||
				text.Fold(q.Sheet) == "table "+strconv.Itoa(i+1) {
				fit = append(fit, t)
			}
		}
		if len(fit) == 0 {
			return nil, refuse("There is no sheet or table “%s”. There are: %s.", text.Shorten(q.Sheet, 80),
				listTables(tables))
		}
	}
	if len(fit) == 1 {
		return fit[0], nil
	}
	var having []*Table
	for _, t := range fit {
		if t.hasColumns(q) == nil {
			having = append(having, t)
		}
	}
	switch {
	case len(having) == 1:
		return having[0], nil
	case len(having) == 0:
		return nil, refuse("None of the tables has all these columns. There are: %s.", listTables(fit))
	default:
		return nil, refuse("Several tables fit: say which with sheet, by its name or its number. There are: %s.",
			listTables(tables))
	}
}

// listTables lists tables with their numbers and columns: "1 “Invoices” (A Number, B Customer)".
func listTables(tables []*Table) string {
	var out []string
	for i, t := range tables[:min(len(tables), maxNamed)] {
		out = append(out, fmt.Sprintf("%d “%s” (%s)", i+1, text.Shorten(t.Name, 80), t.listColumns(10)))
	}
	if n := len(tables) - len(out); n > 0 {
		out = append(out, fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, "; ")
}

// listColumns lists the first columns with their letters: "A Number, B Customer".
func (t *Table) listColumns(most int) string {
	var out []string
	for _, c := range t.Columns[:min(len(t.Columns), most)] {
		out = append(out, strings.TrimSpace(c.Letter+" "+text.Shorten(c.Name, 60)))
	}
	if n := len(t.Columns) - len(out); n > 0 {
		out = append(out, fmt.Sprintf("%d more", n))
	}
	return strings.Join(out, ", ")
}

// column returns the index of a column by its name, ignoring case, else by its letter. Otherwise it returns a
// Refusal that lists the columns. Columns with the same name can only be identified by letter.
func (t *Table) column(name string) (int, error) {
	asked := text.Fold(oneLine(name))
	found := -1
	for i, c := range t.Columns {
		if asked == "" || text.Fold(c.Name) != asked {
			continue
		}
		if found >= 0 {
			return 0, refuse("More than one column is called “%s”: ask for %s or %s by its letter.",
				text.Shorten(name, 60), t.Columns[found].Letter, c.Letter)
		}
		found = i
	}
	if found >= 0 {
		return found, nil
	}
	if utf8.RuneCountInString(name) <= 3 {
		for i, c := range t.Columns {
			if strings.EqualFold(c.Letter, strings.TrimSpace(name)) {
				return i, nil
			}
		}
	}
	return 0, refuse("The table “%s” has no column “%s”. Its columns are: %s.", text.Shorten(t.Name, 80),
		text.Shorten(name, 60), t.listColumns(maxNamed))
}

// hasColumns returns a Refusal for the first column of a query that the table lacks.
func (t *Table) hasColumns(q Query) error {
	for _, name := range q.columns() {
		if _, err := t.column(name); err != nil {
			return err
		}
	}
	return nil
}

// runeWalker slices a text by rune offsets. Ascending offsets, like those of cells, need about one pass over the
// text.
type runeWalker struct {
	text        string
	runes, byte int
}

// slice returns the text between two rune offsets.
func (w *runeWalker) slice(start, end int) string {
	from := w.seek(start)
	return w.text[from:w.seek(end)]
}

// seek returns the byte offset of a rune.
func (w *runeWalker) seek(rune int) int {
	if rune < w.runes {
		w.runes, w.byte = 0, 0
	}
	for w.runes < rune && w.byte < len(w.text) {
		_, size := utf8.DecodeRuneInString(w.text[w.byte:])
		w.byte += size
		w.runes++
	}
	return w.byte
}
