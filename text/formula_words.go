package text

import (
	"regexp"
	"strings"
)

// WithoutFormulas returns a text without its formulas, which are no words. One that is only a number stays a number. A
// share that is written as $5\%$ can then be found and compared.
func WithoutFormulas(s string) string {
	return replaceFormulas(s, func(_ string, f Formula) string {
		if numberOnly.MatchString(f.TeX) {
			return " " + texInNumber.Replace(f.TeX) + " "
		}
		return " "
	})
}

// numberOnly is a formula that is a number, with a percent sign maybe.
var numberOnly = regexp.MustCompile(`^\s*[-−]?[0-9](?:[0-9.,]|\{,\}|\{\.\}|\\,)*\s*(?:\\%)?\s*$`)

// texInNumber takes out what TeX needs around a number's signs.
var texInNumber = strings.NewReplacer("{", "", "}", "", `\,`, "", `\%`, "%")

// MaskFormulas returns a text of as many runes with a word instead of each formula, so that no stop or break in one
// ends a sentence. The word has a capital where a sentence may begin. Offsets of runes in the result are those of the
// text.
func MaskFormulas(s string) string {
	return replaceFormulas(s, func(before string, f Formula) string {
		before = strings.TrimRight(before, " \t\r\n")
		first := "q"
		if before == "" || strings.ContainsAny(before[len(before)-1:], ".!?") {
			first = "Q"
		}
		return first + strings.Repeat("q", len([]rune(s[f.Start:f.End]))-1)
	})
}

// replaceFormulas replaces each formula of a text by what with makes of it and of what stands before it.
func replaceFormulas(s string, with func(before string, f Formula) string) string {
	if !strings.ContainsAny(s, `\$`) {
		return s
	}
	found := Formulas(s, nil)
	if len(found) == 0 {
		return s
	}
	var b strings.Builder
	done := 0
	for _, f := range found {
		b.WriteString(s[done:f.Start] + with(s[:f.Start], f))
		done = f.End
	}
	return b.String() + s[done:]
}

// UnfinishedFormula returns where the formula begins, in bytes, in which a text may end. The text is one block of
// Markdown; what stands in one of the places is passed over. Whoever shows a text while it is written holds it back
// from there on.
func UnfinishedFormula(s string, passed [][2]int) (start int, ok bool) {
	for at := (formulaSigns{text: s, passed: passed}); at.next(); {
		f, ok, open := ReadFormula(s, at.byte)
		if open {
			return at.byte, true
		}
		at.leave(f, ok)
	}
	return 0, false
}
