package table

import (
	"math/big"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	numbers "golang.org/x/text/number"

	"github.com/footnote/footnote/text"
)

// values reads the cells of one column: numbers in the form, and dates in the order, that its cells or else those of
// the columns beside it have. Reading a column needs all of its cells first: "1.234" alone may be a thousand or a
// little more than one.
type values struct {
	table  *Table
	column int
	form   form
	order  order
	doubt  string // a cell whose number can be read in two ways, and nothing tells which; empty: none
	doubts string // likewise of a date
	dates  bool   // more of its cells are dates than numbers
}

// looksValue reports whether a cell is a number or a date in any form. It doesn't say which.
// Both forms and both orders are tried, as no column is known at this point.
func looksValue(cell string) bool {
	for _, f := range []form{pointForm, commaForm} {
		if _, ok := readNumber(cell, f); ok {
			return true
		}
	}
	for _, o := range []order{dayFirst, monthFirst} {
		if _, ok := readDate(cell, o); ok {
			return true
		}
	}
	return false
}

// inSteps reports whether numbers are equally far apart, such as years and months are.
func inSteps(cells []string) bool {
	var before, step int
	for i, c := range cells {
		n, err := strconv.Atoi(strings.TrimSpace(c))
		if err != nil || i > 1 && n-before != step {
			return false
		}
		before, step = n, n-before
	}
	return len(cells) > 1 && step != 0
}

// asBeside is how many columns of a table tell how another one is written.
// More columns than a person's table has: they bound the time that a wide one takes.
const asBeside = 200

// votes counts what the cells of a column tell about its form and order.
type votes struct {
	point, comma, day, month int
	number, date             string // the first cells that can be read in two ways
	numbers, dates           int
	sheetDates               bool // some dates are as a spreadsheet program writes those without a form of their own
}

// count reads the cells of a column in both forms and both orders, once. Cells that read the same in both ways tell
// nothing, and the first that doesn't is kept as an example.
func (t *Table) count(column int) (v votes) {
	// Each column is counted once for a table, since each may be asked as one of those beside another.
	if v, known := t.counted[column]; known {
		return v
	}
	defer func() {
		if t.counted == nil {
			t.counted = map[int]votes{}
		}
		t.counted[column] = v
	}()
	for _, r := range t.Rows {
		cell := r.Cell(column)
		if cell == "" {
			continue
		}
		if _, isDate := v.countDate(cell); isDate {
			continue
		}
		p, isPoint := readNumber(cell, pointForm)
		c, isComma := readNumber(cell, commaForm)
		switch {
		// "12" and "1,234,567" read the same or fit one form only; "1,234" is a thousand or a little more than one.
		case isPoint && isComma:
			if p.value.Cmp(c.value) != 0 && v.number == "" {
				v.number = cell
			}
		case isPoint:
			v.point++
		case isComma:
			v.comma++
		default:
			continue
		}
		v.numbers++
	}
	return v
}

// countDate counts a cell that is a date, in one order or both.
func (v *votes) countDate(cell string) (d date, ok bool) {
	d, isDay := readDate(cell, dayFirst)
	m, isMonth := readDate(cell, monthFirst)
	switch {
	case isDay && isMonth:
		if !d.at.Equal(m.at) && v.date == "" {
			v.date = cell
		}
		// Such dates are written in the order of the program's settings, which the document's language does not tell.
		v.sheetDates = v.sheetDates || d.inNumbers && d.short && !d.slashed
	case isDay:
		v.day++
	case isMonth:
		d = m
		v.month++
	default:
		return d, false
	}
	v.dates++
	return d, true
}

// read makes out how a column is written. lang is the document's language: it decides where no cell of the table does,
// but for dates in English, which are written in both orders. The column's own cells go before those beside it, and
// both before the language. A contradiction among its own cells is a doubt even if one form has more of them.
func (t *Table) read(column int, lang string) *values {
	own := t.count(column)
	v := &values{table: t, column: column, form: pointForm, order: dayFirst, dates: own.dates > own.numbers}
	point, comma, day, month := own.point, own.comma, own.day, own.month
	// Columns beside it are read only if the column does not say itself, and has a cell that is in doubt.
	if point == 0 && comma == 0 && own.number != "" || day == 0 && month == 0 && own.date != "" {
		for c := range t.Columns[:min(len(t.Columns), asBeside)] { // those beside it
			other := t.count(c)
			if own.point == 0 && own.comma == 0 {
				point, comma = point+other.point, comma+other.comma
			}
			if own.day == 0 && own.month == 0 {
				day, month = day+other.day, month+other.month
			}
		}
	}
	switch {
	case point > 0 && comma > 0 && own.number != "":
		v.doubt = own.number
	case point == 0 && comma == 0:
		known := lang != ""
		// Without a language nothing tells, so that a cell that can be read in two ways stays in doubt.
		if v.form = formOf(lang); own.number != "" && !known {
			v.doubt = own.number
		}
	// One of both is 0 where the column's own cells decide; among those beside it the majority decides.
	case comma > point:
		v.form = commaForm
	}
	switch {
	case day > 0 && month > 0 && own.date != "":
		v.doubts = own.date
	case day == 0 && month == 0:
		if own.date != "" && (own.sheetDates || lang == "" || lang == "en") {
			v.doubts = own.date
		}
	case month > day:
		v.order = monthFirst
	}
	return v
}

// formOf is the form of a language, by the Unicode Consortium's data. golang.org/x/text has CLDR's data.
func formOf(lang string) form {
	tag, err := language.Parse(lang)
	if err == nil && strings.ContainsRune(message.NewPrinter(tag).Sprint(numbers.Decimal(1.5)), ',') {
		return commaForm
	}
	return pointForm
}

// number reads a cell as a number. A cell that only fits the other form is read in that: it can't mean anything else.
func (v *values) number(cell string) (number, bool) {
	if n, ok := readNumber(cell, v.form); ok {
		return n, true
	}
	other := pointForm
	if v.form == pointForm {
		other = commaForm
	}
	return readNumber(cell, other)
}

// date reads a cell as a date.
func (v *values) date(cell string) (date, bool) {
	if d, ok := readDate(cell, v.order); ok {
		return d, true
	}
	if v.order == dayFirst {
		return readDate(cell, monthFirst)
	}
	return readDate(cell, dayFirst)
}

// refuseDoubt fails with a Refusal when the column's numbers, or its dates, can be read in two ways.
func (v *values) refuseDoubt(dates bool) error {
	title := text.Shorten(v.table.Columns[v.column].Title(), 60)
	if dates && v.doubts != "" {
		return refuse("The dates of the column “%s” can be read in two ways, day first or month first, as in “%s”: "+
			"they are not guessed. Ask for the rows instead, or use contains.", title, v.doubts)
	}
	if !dates && v.doubt != "" {
		return refuse("The numbers of the column “%s” can be read in two ways, as in “%s”, whose sign may part "+
			"decimals or thousands: they are not guessed. Ask for the rows instead.", title, v.doubt)
	}
	return nil
}

// show writes a number as the column does: its form, its groups and its unit. like is a number of the column, whose
// form the result has.
func (v *values) show(value *big.Rat, like number, decimals int) string {
	s := decimal(value, decimals)
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	if like.grouped != 0 {
		whole = group(whole, string(like.grouped))
	}
	if fraction != "" {
		whole += string(rune(v.form)) + fraction
	}
	if value.Sign() < 0 {
		whole = "-" + whole
	}
	gap := ""
	if like.space {
		gap = " "
	}
	switch {
	case like.unit == "":
		return whole
	case like.before:
		return like.unit + gap + whole
	default:
		return whole + gap + like.unit
	}
}

// mostShown is how many digits of a number are written; a longer one is written with an exponent.
const mostShown = 40

// decimal writes a value with some decimals, in the form of JSON. Fifteen digits are kept then.
func decimal(value *big.Rat, decimals int) string {
	s := value.FloatString(decimals)
	if len(s) <= mostShown {
		return s
	}
	return new(big.Float).SetPrec(200).SetRat(value).Text('g', 15)
}
