package cite

import (
	"cmp"
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// writtenNumber matches a number in any format of the supported languages: 200,000, 200.000, 200 000, 2,5.
var writtenNumber = lazy.Regexp(
	"\\d{1,3}(?:[ \u00a0\u202f\u2009'’]\\d{3})+(?:[.,]\\d+)?|\\d+(?:[.,]\\d+)*",
)

// groupMarks removes the separators of a number's thousands.
var groupMarks = strings.NewReplacer(" ", "", "\u00a0", "", "\u202f", "", "\u2009", "", "'", "", "’", "")

// plainNumber normalises a number to a decimal point and no thousands separators. A single mark before three digits
// separates thousands in one language and decimals in others: english selects one of them.
func plainNumber(number string, english bool) string {
	number = groupMarks.Replace(number)
	last := strings.LastIndexAny(number, ".,")
	if last < 0 {
		return number
	}
	mark := number[last : last+1]
	isGroup := strings.Count(number, mark) > 1
	if !isGroup && strings.Count(number, ".")+strings.Count(number, ",") == 1 {
		isGroup = last <= 3 && number[0] != '0' && len(number)-last == len(",000") && (mark == ",") == english
	}
	whole, decimals := number[:last], number[last+1:]
	if isGroup {
		whole, decimals = number, ""
	}
	whole = strings.NewReplacer(".", "", ",", "").Replace(whole)
	if decimals = strings.TrimRight(decimals, "0"); decimals == "" {
		return whole
	}
	return whole + "." + decimals
}

// languageOf returns the detected language of the question, the language of its answer; the fallback is that of a
// sentence. It is empty if both are too short.
func (e *Evidence) languageOf(said string) string {
	return cmp.Or(text.Detect(e.question), text.Detect(said))
}

// valuesOf returns the values that a number in a sentence may have: one, or the English and the other reading if the
// language is unknown.
func (e *Evidence) valuesOf(number, said string) []string {
	switch e.languageOf(said) {
	case "en":
		return []string{plainNumber(number, true)}
	case "":
		return []string{plainNumber(number, true), plainNumber(number, false)}
	default:
		return []string{plainNumber(number, false)}
	}
}

// numbersOf parses the numbers in a text and returns their normalised values.
func (e *Evidence) numbersOf(s string) (out []string) {
	for _, n := range writtenNumber().FindAllString(s, -1) {
		out = append(out, e.valuesOf(n, s)...)
	}
	return out
}

// withResults returns a sentence with its numbers normalised: a result of a calculation as the calculation wrote it,
// and any other number whose English reading differs in the English format.
func (e *Evidence) withResults(said string) string {
	results := Numeral().FindAllString(e.Results.sums, -1)
	return writtenNumber().ReplaceAllStringFunc(said, func(number string) string {
		values := e.valuesOf(number, said)
		if i := slices.IndexFunc(results, func(r string) bool {
			return slices.Contains(values, plainNumber(r, true))
		}); i >= 0 {
			return results[i]
		}
		if values[0] != plainNumber(number, true) {
			return values[0]
		}
		return number
	})
}
