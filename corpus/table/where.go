package table

import (
	"strings"

	"github.com/footnote/footnote/text"
)

// test is a compiled condition.
type test struct {
	column int
	fits   func(cell string) bool
}

// wanted is a parsed comparison value: as words, and as a number or as days if possible. All three may be set:
// "2026" is words, a number and a year.
type wanted struct {
	words  string // folded
	number *number
	days   *period
}

// testOf compiles a condition. It returns a Refusal for an invalid condition, and for a comparison with ambiguous
// numbers or dates of a column. Ordering needs a number or a date; equality also accepts words, without case and
// diacritics.
func (a *askState) testOf(c Condition) (test, error) {
	column, err := a.table.column(c.Column)
	if err != nil {
		return test{}, err
	}
	t := test{column: column}
	v := a.valuesOf(column)
	// Shorten titles in refusals, since a model reads them.
	title := text.Shorten(a.table.Columns[column].Title(), 60)
	need := 1
	switch {
	// These two take no value; any given is ignored.
	case c.Op == Empty:
		t.fits = func(cell string) bool { return cell == "" }
		return t, nil
	case c.Op == Filled:
		t.fits = func(cell string) bool { return cell != "" }
		return t, nil
	case c.Op == Between:
		need = 2
	case c.Op == In:
		need = max(len(c.Values), 1)
	}
	if len(c.Values) != need {
		return test{}, refuse("The condition on “%s” with “%s” needs %d value(s), not %d.", title, c.Op, need,
			len(c.Values))
	}
	var want []wanted
	for _, value := range c.Values {
		w := v.wanted(value)
		// Contains compares only words, so ambiguous numbers don't matter.
		if c.Op != Contains && (w.number != nil || w.days != nil) {
			if err := v.refuseDoubt(w.days != nil); err != nil {
				return test{}, err
			}
		}
		want = append(want, w)
	}
	switch c.Op {
	case Equal, In:
		t.fits = func(cell string) bool { return v.isAny(cell, want) }
	case Unequal:
		t.fits = func(cell string) bool { return !v.isAny(cell, want) }
	case Contains:
		t.fits = func(cell string) bool { return strings.Contains(text.Fold(oneLine(cell)), want[0].words) }
	case Less, AtMost, Greater, AtLeast, Between:
		for i, w := range want {
			if w.number == nil && w.days == nil {
				return test{}, refuse("“%s” compares numbers and dates, and “%s” is neither. Dates are written like "+
					"2026-03-12.", c.Op, text.Shorten(c.Values[i].Text, 60))
			}
		}
		t.fits = func(cell string) bool {
			same, below, ok := v.compare(cell, want[0])
			switch {
			case !ok:
				return false
			case c.Op == Less:
				return below
			case c.Op == AtMost:
				return below || same
			case c.Op == Greater:
				return !below && !same
			case c.Op == AtLeast:
				return !below
			}
			// Only Between gets here. Both ends are inclusive; a year or a month as the end includes its last day.
			last, under, ok := v.compare(cell, want[1])
			return ok && !below && (under || last)
		}
	default:
		return test{}, refuse("There is no operator “%s”. There are: =, ≠, <, ≤, >, ≥, contains, in, between, empty, "+
			"not empty.", text.Shorten(string(c.Op), 30))
	}
	return t, nil
}

// wanted parses a value in the format of the column, else as JSON and ISO 8601. In a column of dates 2026 is a
// year, elsewhere a number.
func (v *values) wanted(value Value) wanted {
	w := wanted{words: text.Fold(oneLine(value.Text))}
	if value.Number != "" {
		w.words = value.Number
	}
	// One of both is empty. A text of four digits is a year only among dates.
	if p, ok := readPeriod(value.Text + value.Number); ok && (v.dates || len(value.Text) > len("2026")) {
		w.days = &p
		return w
	}
	if value.Number != "" {
		if n, ok := readNumber(value.Number, pointForm); ok {
			w.number = &n
		}
		return w
	}
	if n, ok := v.number(value.Text); ok {
		w.number = &n
	} else if d, ok := v.date(value.Text); ok {
		w.days = &period{d.at, d.at.AddDate(0, 0, 1)}
	}
	return w
}

// isAny reports whether a cell equals one of the values: the same words ignoring case, the same number, or a date
// in its period.
func (v *values) isAny(cell string, want []wanted) bool {
	words := text.Fold(oneLine(cell))
	for _, w := range want {
		if words == w.words {
			return true
		}
		if same, _, ok := v.compare(cell, w); ok && same {
			return true
		}
	}
	return false
}

// compare reports whether a cell is equal to a value, or below it. ok is false for a cell of another kind or unit.
// A value without a unit matches cells of any unit.
func (v *values) compare(cell string, w wanted) (same, below, ok bool) {
	switch {
	case cell == "":
	case w.days != nil:
		if d, isDate := v.date(cell); isDate {
			return !d.at.Before(w.days.from) && d.at.Before(w.days.to), d.at.Before(w.days.from), true
		}
	case w.number != nil:
		n, isNumber := v.leading(cell)
		if isNumber && (w.number.unit == "" || w.number.unit == n.unit) {
			order := n.value.Cmp(w.number.value)
			return order == 0, order < 0, true
		}
	}
	return false, false, false
}
