package calc

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/footnote/footnote/text"
)

// readDateSpan parses the two dates of days(…) or years(…), with the opening bracket as the current token. It
// returns the whole days or the completed years from the first to the second date. Dates are parsed from the text
// itself, since the parser would read their hyphens as signs.
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
	n := (to.Unix() - from.Unix()) / (24 * 60 * 60) // a time.Duration overflows at 292 years
	if unit == "years" {
		n = completedYears(from, to)
	}
	return Amount{Rat: big.NewRat(n, 1), exact: true}, nil
}

// parseDate parses an ISO date, 2006-01-02, of an existing day. Its error is a sentence for people.
func parseDate(s string) (time.Time, error) {
	d, err := time.Parse(time.DateOnly, strings.TrimSpace(s))
	if err != nil {
		return d, fmt.Errorf(
			"“%s” is no date. Write dates like 2024-03-01.", text.Shorten(strings.TrimSpace(s), 40),
		) //nolint:staticcheck // shown as it is
	}
	return d, nil
}

// completedYears returns the number of completed years between two dates, negative if the second is earlier. A 29
// February is completed on 1 March of other years, as in time.AddDate.
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
