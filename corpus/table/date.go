package table

import (
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/text"
)

// order is the date format of a column.
type order string

// The orders of day, month and year in numeric dates.
const (
	dayFirst   order = "day-month-year"
	monthFirst order = "month-day-year"
)

// date is a date with an optional time. at is in UTC without meaning: cells have no time zone.
type date struct {
	at time.Time
	// inNumbers: the month is a number, before or after the day according to the column's order
	inNumbers bool
	short     bool // its year has two digits
	slashed   bool // its parts are separated by slashes or points, as users of its language write them
}

const (
	// Smaller numbers are more often parts of codes than years; the century cutoff is that of spreadsheet programs.
	maxDate  = 40   // maximum bytes of a date cell
	leastAge = 1000 // earliest year
	century  = 30   // two-digit years below it are of this century, the others of the last
)

var dateSigns = strings.NewReplacer("年", "-", "月", "-", "日", "", "년", "-", "월", "-", "일", "")

// readDate parses a cell as a date in an order: 2026-03-12, 12.03.2026, 3/12/26, 12-Mar-26, 12 March 2026,
// 2026年3月12日, each with an optional time. A date with points is always day first, in all languages; slashes and
// dashes depend on the order. Days that do not exist, such as the 31st of April, are rejected.
func readDate(cell string, o order) (d date, ok bool) {
	s := strings.TrimSpace(cell)
	if len(s) > maxDate || strings.IndexAny(s, "0123456789") < 0 {
		return d, false
	}
	s, clock, ok := cutClock(s)
	if !ok {
		return d, false
	}
	s = strings.TrimRight(dateSigns.Replace(s), " ")
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("-./, ", r) })
	if len(parts) < 3 {
		return d, false
	}
	if len(parts) == 4 && text.Month(parts[0]) == 0 && text.Month(parts[1]) == 0 && text.Month(parts[2]) > 0 {
		parts = parts[1:] // the day of the week
	}
	if len(parts) == 5 && text.Month(parts[2]) > 0 && len(parts[1]) <= 2 && len(parts[3]) <= 2 { // 12 de marzo de 2026
		parts = []string{parts[0], parts[2], parts[4]}
	}
	if len(parts) != 3 {
		return d, false
	}
	var year, month, day string
	switch {
	case text.Month(parts[1]) > 0:
		day, month, year = parts[0], strconv.Itoa(text.Month(parts[1])), parts[2]
	case text.Month(parts[0]) > 0:
		month, day, year = strconv.Itoa(text.Month(parts[0])), parts[1], parts[2]
	case len(parts[0]) == 4:
		year, month, day = parts[0], parts[1], parts[2]
	case strings.Contains(s, ".") && !strings.Contains(s, "/") && !strings.Contains(s, "-"):
		day, month, year, d.slashed = parts[0], parts[1], parts[2], true
	default:
		d.inNumbers, d.slashed = true, strings.Contains(s, "/")
		if day, month, year = parts[0], parts[1], parts[2]; o == monthFirst {
			day, month = month, day
		}
	}
	y, ok := yearOf(year)
	m, err1 := strconv.Atoi(month)
	n, err2 := strconv.Atoi(strings.TrimRight(day, "stndrh"))
	if !ok || err1 != nil || err2 != nil || len(month) > 2 {
		return d, false
	}
	d.short = len(year) == 2
	d.at = time.Date(y, time.Month(m), n, 0, 0, 0, 0, time.UTC)
	if d.at.Year() != y || int(d.at.Month()) != m || d.at.Day() != n {
		return d, false
	}
	d.at = d.at.Add(clock)
	return d, true
}

// yearOf parses a year of four or two digits.
func yearOf(s string) (year int, ok bool) {
	year, err := strconv.Atoi(s)
	switch {
	case err != nil || len(s) != 2 && len(s) != 4 || len(s) == 4 && year < leastAge:
		return 0, false
	case len(s) == 4:
		return year, true
	case year < century:
		return 2000 + year, true
	default:
		return 1900 + year, true
	}
}

// cutClock removes the time from a date. ok is false for text with a colon that is not a time.
func cutClock(s string) (day string, clock time.Duration, ok bool) {
	at := strings.IndexByte(s, ':')
	if at < 0 {
		return s, 0, true
	}
	from := strings.LastIndexAny(s[:at], " T")
	if from < 0 {
		return "", 0, false
	}
	day, hours := strings.TrimRight(s[:from], ", "), strings.TrimSuffix(s[from+1:], "Z")
	for _, form := range []string{"15:04", "15:04:05", "3:04 PM", "3:04:05 PM"} {
		if t, err := time.Parse(form, strings.ToUpper(hours)); err == nil {
			return day, time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
				time.Duration(t.Second())*time.Second, true
		}
	}
	return "", 0, false
}

// period is a range of days for a condition: a day, a month or a year in ISO 8601. A time counts as its day.
type period struct{ from, to time.Time } // [from, to)

// readPeriod parses 2026-03-12, 2026-03 and 2026.
func readPeriod(s string) (p period, ok bool) {
	for _, form := range []struct {
		layout              string
		years, months, days int
	}{{time.DateOnly, 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if at, err := time.Parse(form.layout, s); err == nil {
			return period{at, at.AddDate(form.years, form.months, form.days)}, true
		}
	}
	return period{}, false
}
