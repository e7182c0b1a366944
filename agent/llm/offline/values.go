package offline

import (
	"strings"
	"unicode"

	"golang.org/x/text/currency"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// valueKind is a kind of value that is recognised by its format.
type valueKind string

// The kinds of values, as named in requests.txt.
const (
	noValue  valueKind = ""
	aDate    valueKind = "date"
	anAmount valueKind = "money"
	aPerson  valueKind = "person"
	aNumber  valueKind = "number"
)

var (
	dateInNumbers = lazy.Regexp(`\b\d{1,4}([-./])\d{1,2}[-./]\d{1,4}\b|\d\s?[月年日월년일]`)
	amountSigned  = lazy.Regexp(`\p{Sc}\s?\d|\d\s?(?:\p{Sc}|[円元圆원])|\d万?[円元圆원]`)
	amountNamed   = lazy.Regexp(`\b([A-Z]{3})\s?\d|\d\s?([A-Z]{3})\b`)
	amountWord    = lazy.Regexp(`(?i)\d\s?(?:euros?|dollars?|pounds?|francs?|francos|franken|pesos?|yen|yuan)\b`)
	fullName      = lazy.Regexp(`\p{Lu}\p{L}*[.’']?\p{L}*(?:[\s-]+\p{Lu}\p{L}+)+`)
)

// isIn reports whether a text contains a value of this kind, by its format. The formats find candidates: a person is
// two capitalised words, which a place may be too. docs/quality.md has their precision.
func (k valueKind) isIn(s string) bool {
	switch k {
	case aDate:
		return dateInNumbers().MatchString(s) || hasNamedDay(s)
	case anAmount:
		return amountSigned().MatchString(s) || amountWord().MatchString(s) || hasCurrencyCode(s)
	case aPerson:
		return fullName().MatchString(s)
	case aNumber:
		return strings.ContainsFunc(s, unicode.IsDigit)
	case noValue:
	}
	return false
}

// hasCurrencyCode reports whether an ISO 4217 code is beside a number.
func hasCurrencyCode(s string) bool {
	for _, m := range amountNamed().FindAllStringSubmatch(s, -1) {
		if _, err := currency.ParseISO(m[1] + m[2]); err == nil {
			return true
		}
	}
	return false
}

// hasNamedDay reports whether the name of a month is beside a number: 12 March, le 1er juin, 3 de marzo.
func hasNamedDay(s string) bool {
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	isDay := func(i int) bool {
		return i >= 0 && i < len(words) && len(words[i]) <= 4 && unicode.IsDigit(rune(words[i][0]))
	}
	for i, w := range words {
		if text.Month(w) > 0 && (isDay(i-1) || isDay(i+1) || i > 1 && words[i-1] == "de" && isDay(i-2)) {
			return true
		}
	}
	return false
}
