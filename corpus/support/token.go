package support

import "slices"

// isNumber reports whether a word is a number, which has a higher weight than other words.
func (t token) isNumber() bool { return t.weight == numberWeight }

// isName reports whether a word is a name, by its capital.
func (t token) isName() bool { return t.proper }

// isDistinct reports whether a word is a name or a number, which no synonym can replace.
func (t token) isDistinct() bool { return t.count || t.isName() }

// isSame reports whether two tokens are the same word, or similar: "cover" and "coverage", "kg" and "kilograms"
// next to a number.
func (t token) isSame(o token) bool {
	for _, a := range t.terms {
		if slices.Contains(o.terms, a) {
			return true
		}
	}
	if t.measure && o.measure && (abbreviatesUnit(t.text, o.text) || abbreviatesUnit(o.text, t.text)) {
		return true
	}
	return !t.isNumber() && !o.isNumber() && !t.gram && !o.gram && isAlike(t.text, o.text)
}

// isAlike reports whether two words have a long common prefix: at least four letters and three fifths of the longer
// word. "cover" and "coverage" are alike, "contract" and "contain" are not. Both figures were tuned on the open
// judged pairs.
func isAlike(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 4 && 5*n >= 3*max(len(a), len(b))
}

// abbreviatesUnit reports whether the letters of short occur in long in order, with the same first letter: kg,
// kilograms. It is only for words after numbers; elsewhere "mt" would match "meeting".
func abbreviatesUnit(short, long string) bool {
	if short == "" || len(short) >= len(long) || short[0] != long[0] {
		return false
	}
	i := 0
	for k := 0; k < len(long) && i < len(short); k++ {
		if short[i] == long[k] {
			i++
		}
	}
	return i == len(short)
}
