package calc

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/footnote/footnote/text"
)

// readDateSpan reads the two dates of days(…) or years(…), the opening bracket being the present token, and returns the
// whole days or the completed years from the first to the second. Dates are read from the text itself, as their hyphens
// would be signs to the parser.
func (p *parser) readDateSpan(unit string) (Amount, error) {
	inside, _, closed := strings.Cut(p.in[p.at:], ")")
	first, second, two := strings.Cut(inside, ",")
	if !closed || !two {
		return Amount{}, errors.New(
			"days and years need two dates in brackets, like days(2024-01-31, 2024-03-01).",
		) //nolint:staticcheck // shown as it is
	}
	from, err := parseDate(first)
	if err != nil {
		return Amount{}, err
	}
	to, err := parseDate(second)
	if err != nil {
		return Amount{}, err
	}
	p.at += len(inside) + 1
	p.nextToken()
	n := (to.Unix() - from.Unix()) / (24 * 60 * 60) // a time.Duration would end at 292 years
	if unit == "years" {
		n = completedYears(from, to)
	}
	return Amount{Rat: big.NewRat(n, 1), exact: true}, nil
}

// parseDate reads an ISO date; its error is a sentence for people. The form is 2006-01-02, and the day has to exist.
func parseDate(s string) (time.Time, error) {
	d, err := time.Parse(time.DateOnly, strings.TrimSpace(s))
	if err != nil {
		return d, fmt.Errorf(
			"“%s” is no date. Write dates like 2024-03-01.", text.Shorten(strings.TrimSpace(s), 40),
		) //nolint:staticcheck // shown as it is
	}
	return d, nil
}

// completedYears counts the birthdays between two dates; negative if the second one is earlier. A 29 February is
// completed on 1 March of other years, as time.AddDate has it.
func completedYears(from, to time.Time) int64 {
	if to.Before(from) {
		return -completedYears(to, from)
	}
	n := to.Year() - from.Year()
	if from.AddDate(n, 0, 0).After(to) {
		n--
	}
	return int64(n)
}
