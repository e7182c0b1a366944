package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text/lazy"
)

// Formula is a TeX formula delimited by \( and \), \[ and \], $ or $$. These are the delimiters that models and web
// pages use.
type Formula struct {
	Start, End int    // byte offsets, including the delimiters
	TeX        string // without the delimiters
	Display    bool   // display formula, on its own line
}

// MaxFormula is the maximum length of a formula in bytes, with its delimiters; longer ones are text.
const MaxFormula = 64 << 10

// MaxOpenFormula is the maximum number of bytes that a stream holds back for an unfinished formula. A reader of a
// streamed answer must not wait long for a closing dollar that never comes.
const MaxOpenFormula = 4000

// A single dollar has lower limits, since it is usually currency.
const (
	maxDollar     = 2000
	maxOpenDollar = 200
)

// ReadFormula parses the formula at byte offset at of s, a Markdown block outside of code; a formula ends before a
// blank line. ok reports whether there is a formula. open reports that more text after s could change ok. s[at]
// must be a backslash or a dollar; no formula begins with other bytes.
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

// Formulas returns the formulas of a Markdown block, in order and without overlap. It skips the byte ranges in
// passed, such as code spans, which must be in order. A backslash that begins no formula escapes the next
// character: "\$" is a dollar.
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

// formulaSigns iterates over the characters that may begin a formula, outside of the skipped ranges.
type formulaSigns struct {
	text   string
	passed [][2]int // byte ranges to skip, in order; those that end after byte
	byte   int      // offset of the next character, after next
}

// next advances to the next character at or after byte. It reports whether there is one.
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

// leave advances past the formula if there is one, else past the character and what a backslash escapes.
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

// readBracketed parses a formula from \( to \), or from \[ to \]. A second opening delimiter, a blank line, or only
// white space make it text.
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

// isDisplayTeX reports whether the text between \[ and \] is a formula: in Markdown these are also escaped
// brackets, as in "\[1\]".
func isDisplayTeX(tex string) bool {
	return strings.ContainsAny(tex, `\^_=<>+`) || strings.ContainsAny(tex[:1], " \t\n")
}

// readDollars parses a formula from $ to $, or from $$ to $$. Its rules exclude prices: $5 and $10, US$ 5, 5$. They
// are those of Pandoc's extension tex_math_dollars and a few more: no space after the first dollar or before the
// second one, and no digit after that. before is the byte before the first dollar.
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
		return Formula{}, false, len(s) <= most && !(size == 1 && amountInProse().MatchString(s[1:]))
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

// amountInProse matches text after a dollar that is currency: an amount, then a word or a footnote.
var amountInProse = lazy.Regexp(`^[0-9][0-9.,'’]*(?:\s+\p{L}(?:\p{L}|\s+\p{L})|\s*\[\d)`)

// isInlineTeX reports whether the text between two dollars is a formula, by its ends and the text after it: the
// second dollar of two prices has a space before it or a number after it.
func isInlineTeX(tex, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(tex)
	if unicode.IsSpace(last) || amountInProse().MatchString(tex) {
		return false
	}
	switch {
	case after == "" || !isASCIIWord(after[0]) && after[0] != '$':
		return true
	case after[0] == '$' || after[0] >= '0' && after[0] <= '9' || tex[0] >= '0' && tex[0] <= '9':
		return false
	default: // "the $n$th" is a formula, "$HOME/$USER" is not
		return isWord(last) || last == '}' || last == ')'
	}
}

// isBlankLine reports whether a text begins with a blank line.
func isBlankLine(s string) bool {
	s = strings.TrimLeft(s, " \t\r>")
	return s != "" && s[0] == '\n'
}

// runOf returns how many times a character is repeated at the beginning of s.
func runOf(s string, char byte) int { return len(s) - len(strings.TrimLeft(s, string(char))) }

// isASCIIWord reports whether a byte is an ASCII letter or digit.
func isASCIIWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// WithoutFormulas returns a text without its formulas, but keeps formulas that are only a number. So a percentage
// written as $5\%$ can be found and compared.
func WithoutFormulas(s string) string {
	return replaceFormulas(s, func(_ string, f Formula) string {
		if numberOnly().MatchString(f.TeX) {
			return " " + texInNumber.Replace(f.TeX) + " "
		}
		return " "
	})
}

// numberOnly matches a formula that is a number, with an optional percent sign.
var numberOnly = lazy.Regexp(`^\s*[-−]?[0-9](?:[0-9.,]|\{,\}|\{\.\}|\\,)*\s*(?:\\%)?\s*$`)

// texInNumber removes TeX markup around the characters of a number.
var texInNumber = strings.NewReplacer("{", "", "}", "", `\,`, "", `\%`, "%")

// MaskFormulas replaces each formula with a placeholder word of the same number of runes, so that punctuation in a
// formula ends no sentence. The word is capitalised at the start of a sentence. Rune offsets are unchanged.
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

// replaceFormulas replaces each formula with the result of with, which gets the text before it and the formula.
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

// UnfinishedFormula returns the byte offset of an unfinished formula at the end of a text, a Markdown block. It
// skips the byte ranges in passed. A stream holds back the text from there on.
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
