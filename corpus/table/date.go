package table

import (
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/text"
)

// order is how a column writes its dates.
type order string

// The orders of day, month and year in numbers.
const (
	dayFirst   order = "day-month-year"
	monthFirst order = "month-day-year"
)

// date is a day, or a moment of one. at is in UTC, which stands for no zone: cells name none.
type date struct {
	at time.Time
	// inNumbers: its month is a number, and stands before or behind the day as the order of its column says
	inNumbers bool
	short     bool // its year has two digits
	slashed   bool // its parts stand between slashes or points, as people of its language write them
}

const (
	// Smaller numbers are more often parts of codes than years; the century's edge follows what spreadsheet programs
	// do.
	maxDate  = 40   // bytes of a cell that may be a date
	leastAge = 1000 // years before it are none
	century  = 30   // two digits below it are of this century, the others of the last
)

var dateSigns = strings.NewReplacer("年", "-", "月", "-", "日", "", "년", "-", "월", "-", "일", "")

// readDate reads a cell as a date in an order: 2026-03-12, 12.03.2026, 3/12/26, 12-Mar-26, 12 March 2026, 2026年3月12日,
// each with a time of the day behind it or without. A date with points is always day first, as no language writes it
// otherwise; slashes and dashes leave the order open. Days that don't exist, such as the 31st of April, make it no
// date.
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

// yearOf reads a year of four digits, or of two.
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

// cutClock takes the time of the day off a date. ok is false for something with a colon that is no time.
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

// period is the days that a condition names: one day, a month or a year, in the form of ISO 8601. A moment counts to
// its day.
type period struct{ from, to time.Time } // [from, to)

// readPeriod reads 2026-03-12, 2026-03 and 2026.
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
