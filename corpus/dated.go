package corpus

import (
	"time"

	"github.com/footnote/footnote/chat"
)

// Dated restricts a filter to documents with a date in [from, to]; both are days, months or years, and empty ones
// do not restrict. Repeated calls intersect the ranges. It returns chat.CodeInvalid for an invalid date, which the
// message calls name, and for an empty range.
func (f *Filter) Dated(name, from, to string) error {
	for _, date := range []string{from, to} {
		if date != "" && !IsDate(date) {
			return chat.Invalid("{1} must be a date like 2026-01-31, 2026-01 or 2026, not \"{2}\".", name, date)
		}
	}
	f.DatedFrom = max(f.DatedFrom, from)
	if f.DatedTo == "" || to != "" && lastDay(to) < lastDay(f.DatedTo) {
		f.DatedTo = to
	}
	if f.DatedTo != "" && f.DatedFrom > lastDay(f.DatedTo) {
		return chat.Invalid(
			"No date is both {1} or later and {2} or earlier. Correct date_from, date_to or year.", f.DatedFrom,
			f.DatedTo,
		)
	}
	return nil
}

// IsDate reports whether a text is a day, a month or a year: 2026-01-31, 2026-01 or 2026.
func IsDate(text string) bool {
	for _, form := range []string{time.DateOnly, "2006-01", "2006"} {
		if _, err := time.Parse(form, text); err == nil {
			return true
		}
	}
	return false
}

// lastDay returns a text that sorts after every day of a year or month and before the next year or month. Dates are
// compared as text, and "~" sorts after every digit and dash.
func lastDay(date string) string { return date + "~" }
