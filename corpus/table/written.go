package table

import (
	"math/big"
	"strings"
	"time"

	"github.com/footnote/footnote/text"
)

// mostRounded is the maximum number of decimals that people round to.
const mostRounded = 2

// Written returns the formats in which people write a total, given as JSON, or a date, given in ISO 8601. They
// include totals with and without trailing zeros, rounded to a few decimals, with each group and decimal separator.
// They validate the numbers in an answer.
func Written(plain string) (out []string) {
	if day, err := time.Parse(time.DateOnly, plain); err == nil {
		return []string{plain, day.Format("2 January 2006"), day.Format("January 2, 2006"), day.Format("02.01.2006")}
	}
	value, ok := new(big.Rat).SetString(plain)
	if !ok {
		return []string{plain}
	}
	add := func(s string) {
		out = text.AppendNew(out, s)
		whole, fraction, _ := strings.Cut(s, ".")
		for _, signs := range [][2]string{{",", "."}, {".", ","}, {" ", ","}, {"\u00a0", ","}, {"'", "."}, {"", ","}} {
			said := group(whole, signs[0])
			if fraction != "" {
				said += signs[1] + fraction
			}
			out = text.AppendNew(out, said)
		}
	}
	add(plain)
	if strings.Contains(plain, ".") {
		add(strings.TrimRight(strings.TrimRight(plain, "0"), "."))
	}
	if _, fraction, _ := strings.Cut(plain, "."); len(fraction) > mostRounded {
		for decimals := range mostRounded + 1 {
			add(value.FloatString(decimals))
		}
	}
	return out
}

// group inserts a separator between groups of three digits.
func group(whole, sign string) string {
	digits := strings.TrimPrefix(whole, "-")
	minus := whole[:len(whole)-len(digits)]
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + sign + digits[at:]
	}
	return minus + digits
}
