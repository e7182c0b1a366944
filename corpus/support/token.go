package support

import "slices"

// isNumber reports whether a word counts as a number, which weighs more than other words.
func (t token) isNumber() bool { return t.weight == numberWeight }

// isName reports whether a word is a name by its capital.
func (t token) isName() bool { return t.proper }

// isDistinct reports whether a word is a name or a number, which no other word can stand in for.
func (t token) isDistinct() bool { return t.count || t.isName() }

// isSame reports whether two tokens are the same word, or built alike: "cover" and "coverage", "kg" and "kilograms"
// beside a number.
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

// isAlike reports whether two words begin with the same letters for most of their length: at least four, since shorter
// beginnings are prefixes, and three fifths of the longer word. "cover" and "coverage" are alike, "contract" and
// "contain" are not. Both figures were chosen with the open judged pairs in sight.
func isAlike(a, b string) bool {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 4 && 5*n >= 3*max(len(a), len(b))
}

// abbreviatesUnit reports whether a unit's letters stand in another in order, from its first one: kg, kilograms. It is
// asked only of words behind numbers; elsewhere "mt" would be "meeting".
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
