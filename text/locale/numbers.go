package locale

import (
	"context"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/text/number"
)

// Decimal formats a number with a fixed number of decimals.
func Decimal(ctx context.Context, x float64, places int) string {
	l := Of(ctx)
	if l.catalogue == "" {
		return strconv.FormatFloat(x, 'f', places, 64)
	}
	return l.numbers.Sprint(number.Decimal(x, number.Scale(places)))
}

// units of sizes are the same in all supported languages.
var units = []string{"B", "kB", "MB", "GB", "TB", "PB"}

// Size formats a number of bytes with decimal prefixes: "82 kB", "1.5 MB", "1,5 MB".
func Size(ctx context.Context, bytes int64) string {
	l := Of(ctx)
	if l.catalogue == "" {
		return humanize.Bytes(uint64(max(bytes, 0)))
	}
	x, unit := float64(max(bytes, 0)), 0
	for x >= 999.5 && unit+1 < len(units) {
		x /= 1000
		unit++
	}
	places := 0
	if unit > 0 && x < 9.95 {
		places = 1
	}
	return Decimal(ctx, x, places) + " " + units[unit]
}

var (
	monthNames = [...]Text{
		T("January"), T("February"), T("March"), T("April"), T("May"), T("June"), T("July"), T("August"),
		T("September"), T("October"), T("November"), T("December"),
	}
	day        = T("{day} {month}")
	dayOfYear  = T("{day} {month} {year}")
	monthYear  = T("{month} {year}")
	dayAtClock = T("{date}, {time} UTC")
)

// Day formats a date of this year: "2 January". Dates are in UTC.
func Day(ctx context.Context, t time.Time) string {
	t = t.UTC()
	return day.Say(ctx, strconv.Itoa(t.Day()), monthNames[t.Month()-1])
}

// Date formats a date: "2 January 2006".
func Date(ctx context.Context, t time.Time) string {
	t = t.UTC()
	return dayOfYear.Say(ctx, strconv.Itoa(t.Day()), monthNames[t.Month()-1], strconv.Itoa(t.Year()))
}

// Moment formats a date and time: "2 January 2006, 15:04 UTC".
func Moment(ctx context.Context, t time.Time) string {
	return dayAtClock.Say(ctx, Date(ctx, t), t.UTC().Format("15:04"))
}

// Month formats a month, optionally with its year: "January 2006".
func Month(ctx context.Context, t time.Time, withYear bool) string {
	t = t.UTC()
	if !withYear {
		return monthNames[t.Month()-1].In(ctx)
	}
	return monthYear.Say(ctx, monthNames[t.Month()-1], strconv.Itoa(t.Year()))
}

// shortMonths are abbreviated names of months.
var shortMonths = [...]Text{
	T("Jan"), T("Feb"), T("Mar"), T("Apr"), T("May"), T("Jun"), T("Jul"), T("Aug"), T("Sep"), T("Oct"), T("Nov"),
	T("Dec"),
}

// ShortDay formats a date of this year with an abbreviated month: "2 Jan".
func ShortDay(ctx context.Context, t time.Time) string {
	t = t.UTC()
	return day.Say(ctx, strconv.Itoa(t.Day()), shortMonths[t.Month()-1])
}

// ShortDate formats a date with an abbreviated month: "2 Jan 2006".
func ShortDate(ctx context.Context, t time.Time) string {
	t = t.UTC()
	return dayOfYear.Say(ctx, strconv.Itoa(t.Day()), shortMonths[t.Month()-1], strconv.Itoa(t.Year()))
}
