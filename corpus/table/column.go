package table

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	numbers "golang.org/x/text/number"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// values parses the cells of one column in its number format and date order. Both are detected from all cells of
// the column, then from adjacent columns: "1.234" alone may be a thousand or a little more than one.
type values struct {
	table  *Table
	column int
	form   form
	order  order
	doubt  string // a cell with an ambiguous number; empty: none
	doubts string // a cell with an ambiguous date
	dates  bool   // more of its cells are dates than numbers
	leads  *bool  // most of its cells begin with a number: see leading
}

// isValueLike reports whether a cell is a number or a date in any format. It tries all formats, since the column's
// is not known yet.
func isValueLike(cell string) bool {
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

// inSteps reports whether numbers have a constant step, such as years and months.
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

// asBeside is the maximum number of columns that determine the format of another one. It bounds the time for a wide
// table.
const asBeside = 200

// votes counts the evidence of a column's cells for its number format and date order.
type votes struct {
	point, comma, day, month int
	number, date             string // the first ambiguous cells
	numbers, dates           int
	sheetDates               bool // some dates are in a spreadsheet program's default format
}

// count parses the cells of a column in both number formats and both date orders, with a cache. Cells with the same
// value in both are no evidence; the first ambiguous one is kept as an example.
func (t *Table) count(column int) (v votes) {
	// Cache the result, since a column is also counted for other columns.
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
		// "12" and "1,234,567" are unambiguous; "1,234" is a thousand or a little more than one.
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

// countDate counts a date cell in one order or both.
func (v *votes) countDate(cell string) (d date, ok bool) {
	d, isDay := readDate(cell, dayFirst)
	m, isMonth := readDate(cell, monthFirst)
	switch {
	case isDay && isMonth:
		if !d.at.Equal(m.at) && v.date == "" {
			v.date = cell
		}
		// Such dates follow the program's settings, not the document's language.
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

// read detects the formats of a column. The evidence of its own cells comes first, then that of adjacent columns,
// then lang, the document's language. English dates stay ambiguous, since both orders are common. Contradictory
// cells of the column are ambiguous even if one format has more.
func (t *Table) read(column int, lang string) *values {
	own := t.count(column)
	v := &values{table: t, column: column, form: pointForm, order: dayFirst, dates: own.dates > own.numbers}
	point, comma, day, month := own.point, own.comma, own.day, own.month
	// Other columns are parsed only if the column itself is ambiguous.
	if point == 0 && comma == 0 && own.number != "" || day == 0 && month == 0 && own.date != "" {
		for c := range t.Columns[:min(len(t.Columns), asBeside)] { // adjacent columns
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
		// Without a known language an ambiguous cell stays ambiguous.
		if v.form = formOf(lang); own.number != "" && !known {
			v.doubt = own.number
		}
	// One of both is 0 if the column's own cells decide; among other columns the majority decides.
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

// formOf returns the number format of a language, from the CLDR data of golang.org/x/text.
func formOf(lang string) form {
	tag, err := language.Parse(lang)
	if err == nil && strings.ContainsRune(message.NewPrinter(tag).Sprint(numbers.Decimal(1.5)), ',') {
		return commaForm
	}
	return pointForm
}

// number parses a cell as a number. A cell that only fits the other format is parsed in that.
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

// date parses a cell as a date.
func (v *values) date(cell string) (date, bool) {
	if d, ok := readDate(cell, v.order); ok {
		return d, true
	}
	if v.order == dayFirst {
		return readDate(cell, monthFirst)
	}
	return readDate(cell, dayFirst)
}

// refuseDoubt returns a Refusal if the column's numbers, or its dates, are ambiguous.
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

// show formats a number like the column: its decimal separator, groups and unit. like is a number of the column.
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

// mostShown is the maximum number of digits shown; longer numbers use an exponent.
const mostShown = 40

// decimal formats a value with some decimals, as JSON. With an exponent it keeps fifteen digits.
func decimal(value *big.Rat, decimals int) string {
	s := value.FloatString(decimals)
	if len(s) <= mostShown {
		return s
	}
	return new(big.Float).SetPrec(200).SetRat(value).Text('g', 15)
}

// leading parses a cell as a number for an order. In a column without numbers these are the numbers that most cells
// begin with: “4220 m (13,845 ft)”, “12[3]”, “3rd”, a shared place “T10”, a
// season “1999–00”, a time “4:24:38.6” in seconds.
func (v *values) leading(cell string) (number, bool) {
	if n, ok := v.number(cell); ok {
		return n, true
	}
	if v.leads == nil {
		leads, filled, dates := 0, 0, v.table.count(v.column).dates
		for _, r := range v.table.Rows {
			if c := r.Cell(v.column); c != "" {
				filled++
				if _, ok := v.leadingNumber(c); ok {
					leads++
				}
			}
		}
		most := dates == 0 && 3*leads >= 2*filled
		v.leads = &most
	}
	if !*v.leads {
		return number{}, false
	}
	return v.leadingNumber(cell)
}

var (
	clock   = lazy.Regexp(`^(?:(\d{1,3}):)?(\d{1,3}):(\d\d(?:\.\d{1,6})?)$`)
	years   = lazy.Regexp(`^(1\d\d\d|20\d\d)(?:[ /–-].*)?$`)
	ordinal = lazy.Regexp(`^(?:[=~]|T-?)?([1-9]\d{0,5})(?:st|nd|rd|th|\.)?$`)
)

// leadingNumber parses the number at the beginning of a cell, before a note, brackets or the next line.
func (v *values) leadingNumber(cell string) (n number, ok bool) {
	if at := strings.IndexAny(cell, "\n([†‡*"); at > 0 {
		cell = cell[:at]
	}
	cell = strings.TrimSpace(cell)
	if n, ok = v.number(cell); ok || len(cell) > maxNumeral {
		return n, ok
	}
	for _, form := range []*regexp.Regexp{ordinal(), years()} {
		if m := form.FindStringSubmatch(cell); m != nil {
			n.value, ok = new(big.Rat).SetString(m[1])
			return n, ok
		}
	}
	if m := clock().FindStringSubmatch(cell); m != nil {
		seconds := new(big.Rat)
		for _, part := range m[1:] {
			value, _ := new(big.Rat).SetString("0" + part) // digits, as matched
			seconds.Add(seconds.Mul(seconds, big.NewRat(60, 1)), value)
		}
		_, fraction, _ := strings.Cut(m[3], ".")
		return number{value: seconds, unit: "s", space: true, decimals: len(fraction)}, true
	}
	return number{}, false
}
