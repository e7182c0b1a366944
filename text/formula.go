package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Formula is a TeX formula between \( and \), \[ and \], two dollars, or two pairs of dollars. The delimiters are those
// that models write and that pages with mathematics have.
type Formula struct {
	Start, End int    // bytes, with its delimiters
	TeX        string // between them
	Display    bool   // it stands on a line of its own
}

// MaxFormula is the length of the longest formula in bytes, with its delimiters; longer ones are text.
const MaxFormula = 64 << 10

// MaxOpenFormula is how many bytes of an unfinished formula there may be while more text is waited for. A reader who
// watches an answer being written must not wait long for a dollar to be closed that never will be.
const MaxOpenFormula = 4000

// Behind a single dollar, which is money more often, both are shorter.
const (
	maxDollar     = 2000
	maxOpenDollar = 200
)

// ReadFormula reads the formula that begins at a byte of s, which is one block of Markdown outside of code; a formula
// ends before a blank line. open means that text which follows s may make one of what is none yet, or the reverse. ok
// says that there is one. s[at] must be a backslash or a dollar; other bytes begin none.
func ReadFormula(s string, at int) (f Formula, ok, open bool) {
	rest := s[at:min(len(s), at+MaxFormula)]
	switch {
	case strings.HasPrefix(rest, `\(`):
		f, ok, open = readBracketed(rest, ')')
	case strings.HasPrefix(rest, `\[`):
		if f, ok, open = readBracketed(rest, ']'); ok && !isDisplayTeX(f.TeX) {
			return Formula{}, false, false
		}
	case strings.HasPrefix(rest, "$"):
		before := byte(' ')
		if at > 0 {
			before = s[at-1]
		}
		f, ok, open = readDollars(rest, before)
	case rest == `\`:
		return Formula{}, false, true
	}
	f.Start, f.End = at, at+f.End
	return f, ok, open
}

// Formulas returns the formulas of one block of Markdown, in order. What stands in one of the places, such as code
// spans, which are in order, is passed over. They don't overlap. A backslash that begins no formula takes the sign
// behind it away: "\$" is a dollar.
func Formulas(s string, passed [][2]int) []Formula {
	var out []Formula
	for at := (formulaSigns{text: s, passed: passed}); at.next(); {
		f, ok, _ := ReadFormula(s, at.byte)
		if ok {
			out = append(out, f)
		}
		at.leave(f, ok)
	}
	return out
}

// formulaSigns goes through the signs of a text that a formula may begin with, outside of the places that are passed
// over.
type formulaSigns struct {
	text   string
	passed [][2]int // in bytes and in order; those behind byte
	byte   int      // where the next sign is, after next
}

// next goes to the sign at or behind byte. It reports whether there is one.
func (at *formulaSigns) next() bool {
	for at.byte < len(at.text) {
		n := strings.IndexAny(at.text[at.byte:], `\$`)
		if n < 0 {
			return false
		}
		at.byte += n
		for len(at.passed) > 0 && at.passed[0][1] <= at.byte {
			at.passed = at.passed[1:]
		}
		if len(at.passed) == 0 || at.byte < at.passed[0][0] {
			return true
		}
		at.byte = at.passed[0][1]
	}
	return false
}

// leave goes behind the sign: behind the formula that began there if one did, else behind what a backslash escapes.
func (at *formulaSigns) leave(f Formula, ok bool) {
	switch {
	case ok:
		at.byte = f.End
	case at.text[at.byte] == '\\':
		at.byte += 2
	default:
		at.byte++
	}
}

// readBracketed reads from \( to \), or from \[ to \]. A second opening before the end, a blank line, and a formula of
// nothing but white space make it text.
func readBracketed(s string, closing byte) (f Formula, ok, open bool) {
	opening := s[1]
	for i := 2; i < len(s); i++ {
		switch {
		case s[i] == '\n' && isBlankLine(s[i+1:]):
			return Formula{}, false, false
		case s[i] != '\\':
		case i+1 == len(s) || s[i+1] == opening:
			return Formula{}, false, i+1 == len(s) && len(s) <= MaxOpenFormula
		case s[i+1] == closing:
			tex := s[2:i]
			return Formula{End: i + 2, TeX: tex, Display: closing == ']'}, strings.TrimSpace(tex) != "", false
		default:
			i++
		}
	}
	return Formula{}, false, len(s) <= MaxOpenFormula
}

// isDisplayTeX reports whether what stands between \[ and \] is a formula: in Markdown the same characters are
// brackets that make no link, as in "\[1\]".
func isDisplayTeX(tex string) bool {
	return strings.ContainsAny(tex, `\^_=<>+`) || strings.ContainsAny(tex[:1], " \t\n")
}

// readDollars reads from $ to $, or from $$ to $$, with the rules that keep prices apart: $5 and $10, US$ 5, 5$. The
// rules are those of Pandoc's extension tex_math_dollars, and a few more: no space behind the first dollar or before
// the second one, no digit behind that. before is the byte that stands before the first one.
func readDollars(s string, before byte) (f Formula, ok, open bool) {
	if before == '$' || before == '\\' {
		return Formula{}, false, false
	}
	size := runOf(s, '$')
	if size > 2 || size == 1 && isASCIIWord(before) {
		return Formula{}, false, false
	}
	if len(s) == size {
		return Formula{}, false, true
	}
	if next, _ := utf8.DecodeRuneInString(s[1:]); size == 1 && unicode.IsSpace(next) {
		return Formula{}, false, false
	}
	end, most := 0, MaxOpenFormula
	if size == 1 {
		s, most = s[:min(len(s), maxDollar)], maxOpenDollar
	}
	for i := size; i < len(s) && end == 0; i++ {
		switch {
		case s[i] == '\n' && isBlankLine(s[i+1:]):
			return Formula{}, false, false
		case s[i] == '\\':
			i++
		case s[i] == '$':
			end = i
		}
	}
	if end == 0 {
		return Formula{}, false, len(s) <= most && !(size == 1 && amountInProse.MatchString(s[1:]))
	}
	f = Formula{End: end + size, TeX: s[size:end], Display: size == 2}
	if size == 2 {
		if end+1 == len(s) {
			return Formula{}, false, true
		}
		return f, s[end+1] == '$' && strings.TrimSpace(f.TeX) != "", false
	}
	if !isInlineTeX(f.TeX, s[end+1:]) {
		return Formula{}, false, false
	}
	return f, true, f.End == len(s)
}

// amountInProse matches the text behind a dollar that stands for money: an amount, then a word or a footnote.
var amountInProse = regexp.MustCompile(`^[0-9][0-9.,'’]*(?:\s+\p{L}(?:\p{L}|\s+\p{L})|\s*\[\d)`)

// isInlineTeX reports whether what stands between two dollars is a formula, by its ends and by what follows: the
// second dollar of two prices has a space before it or a number behind it.
func isInlineTeX(tex, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(tex)
	if unicode.IsSpace(last) || amountInProse.MatchString(tex) {
		return false
	}
	switch {
	case after == "" || !isASCIIWord(after[0]) && after[0] != '$':
		return true
	case after[0] == '$' || after[0] >= '0' && after[0] <= '9' || tex[0] >= '0' && tex[0] <= '9':
		return false
	default: // "the $n$th" is one, "$HOME/$USER" is none
		return isWord(last) || last == '}' || last == ')'
	}
}

// isBlankLine reports whether a text begins with a blank line.
func isBlankLine(s string) bool {
	s = strings.TrimLeft(s, " \t\r>")
	return s != "" && s[0] == '\n'
}

// runOf is how many times a character stands at the beginning of s.
func runOf(s string, char byte) int { return len(s) - len(strings.TrimLeft(s, string(char))) }

// isASCIIWord reports whether a byte is a letter or a digit of ASCII.
func isASCIIWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

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
