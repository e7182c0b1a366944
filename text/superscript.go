package text

import "strings"

var superscripts = []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")

// Superscript returns digits, with the commas and dashes between them, as superscript digits, and any other text as it
// is. The mark of a note behind 1921 would else be read as a digit of the number.
func Superscript(s string) string {
	if s == "" || strings.Trim(s, "0123456789,-–") != "" || strings.Trim(s, ",-–") == "" {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return superscripts[r-'0']
		}
		return r
	}, s)
}

// IsSuperscript reports whether a rune is a superscript digit.
func IsSuperscript(r rune) bool {
	return r == '²' || r == '³' || r == '¹' || r == '⁰' || r >= '⁴' && r <= '⁹'
}
