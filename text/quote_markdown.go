package text

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxListNumber is how many digits the number of a list's item has at most in Markdown.
const maxListNumber = 9

var (
	bullet    = regexp.MustCompile(`^[-+*] `)
	counter   = regexp.MustCompile(`^(\d{1,` + strconv.Itoa(maxListNumber) + `})([.)]) `)
	quoteMark = regexp.MustCompile(`^(?:> ?)+`)
	// marked are beginnings that mean something whatever follows, but for those of items: a heading, a fence, a quote
	// mark, a number alone
	marked = regexp.MustCompile("^(?:#{1,6}(?: |$)|>|`{3}|~{3}|\\d+[.)]$)")
	// ruled are lines of nothing but marks, which underline a heading, rule a page or begin a table
	ruled = regexp.MustCompile("^[-=_*:|+ ]+$")
)

// QuoteMarkdown returns a Markdown quotation of lines as they are, the white space in each collapsed. Lines that are
// items of a list become items; of all other signs, those that would be drawn as something else are escaped, and no
// more, so that nearly every quotation reads the same drawn and as text. Formulas in TeX stay formulas. What follows it
// in its last line must begin with a space. An answer's quotation is compared with the document's text later, for which
// reason nothing may be lost in drawing it, and no more signs may be added than needed. Where all lines are quoted
// already, their marks are kept as levels.
func QuoteMarkdown(lines []string) string {
	lines = collapsed(lines)
	e := newEscaper(lines)
	var b strings.Builder
	var open list
	quoted := !slices.ContainsFunc(lines, func(line string) bool { return line[0] != '>' })
	for i, line := range lines {
		if i > 0 {
			b.WriteString("  \n")
		}
		around := ""
		if quoted {
			around = quoteMark.FindString(line)
		}
		mark, isText := open.takeLine(line[len(around):], i == 0)
		b.WriteString("> " + around + mark)
		rest := line[len(around+mark):]
		if at := escapedStart(rest); at >= 0 && !isText {
			b.WriteString(rest[:at] + `\` + rest[at:at+1])
			rest = rest[at+1:]
		}
		b.WriteString(unlinkAddress(e.escape(rest)))
	}
	return b.String()
}

// collapsed are lines with every run of white space as one space, without the empty ones.
func collapsed(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// list is the list that is open at a line of a quotation: what marks its items, and the number of its last one. The
// zero value is that of none. It is a value, which takeLine changes.
type list struct {
	mark   string // "-", "+", "*", "." or ")"
	number int
}

// takeLine reads a line and returns the mark of an item that it begins with, if Markdown draws the item with its own
// number: it counts a list's items on from the first one. isText means that a number begins the line and no item:
// Markdown begins none with another number than 1 within a paragraph.
func (l *list) takeLine(line string, first bool) (mark string, isText bool) {
	if mark = bullet.FindString(line); mark != "" && !ruled.MatchString(line) {
		*l = list{mark: mark[:1]}
		return mark, false
	}
	m := counter.FindStringSubmatch(line)
	if m == nil || len(m[1]) > 1 && m[1][0] == '0' { // Markdown draws no zero before a number
		return "", false
	}
	n, _ := strconv.Atoi(m[1])
	switch {
	case l.mark == m[2] && n != l.number+1:
		return "", false
	case l.mark == "" && n != 1 && !first:
		return "", true
	}
	*l = list{m[2], n}
	return m[0], false
}

// escapedStart is where a backslash belongs in the beginning of a line that would mean something; -1 for none. An
// item's number is escaped behind its digits, other marks at their first sign.
func escapedStart(line string) int {
	if m := counter.FindStringSubmatch(line); m != nil {
		return len(m[1])
	}
	if !marked.MatchString(line) && !ruled.MatchString(line) && !bullet.MatchString(line) {
		return -1
	}
	return strings.IndexFunc(line, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
}

// escaper escapes the signs within the lines of one block. A sign without a partner means nothing and needs no
// backslash.
type escaper struct {
	stars, lines, tildes, ticks bool // of these there are some that belong together
	brackets                    bool // of which one is that of a link
	dollars                     bool // that would make a formula of two lines
}

// newEscaper looks at all lines, since emphasis and code may go over a line's end.
func newEscaper(lines []string) escaper {
	whole := strings.Join(lines, "\n")
	within := 0 // formulas that stand in one line
	for _, line := range lines {
		within += len(Formulas(line, nil))
	}
	masked := MaskFormulas(whole)
	// where the first of a run of signs is escaped, the rest of it may belong to another one
	cut := slices.ContainsFunc(lines, ruled.MatchString) || strings.Contains(whole, "```") ||
		strings.Contains(whole, "~~~")
	return escaper{
		stars: cut || pairs(masked, '*'), lines: cut || pairs(masked, '_'), tildes: cut || pairs(masked, '~'),
		ticks: cut || twice(whole), brackets: linkBracket.MatchString(whole),
		dollars: len(Formulas(whole, nil)) != within,
	}
}

// linkBracket is the end of what is a link, a picture or a note.
var linkBracket = regexp.MustCompile(`\][(\[:]`)

// pairs reports whether a run of a sign may begin and a later one may end something, as emphasis does. It is more
// careful than CommonMark, which also counts how long both runs are.
func pairs(s string, sign byte) bool {
	begun := false
	for i := 0; i < len(s); {
		if s[i] != sign {
			i++
			continue
		}
		end := i
		for end < len(s) && s[end] == sign {
			end++
		}
		begins, ends := flanks(s[:i], s[end:], sign == '_')
		if ends && begun {
			return true
		}
		begun = begun || begins
		i = end
	}
	return false
}

// flanks reports whether a run of signs between two texts may begin and may end something. strict is for underscores,
// which do neither within a word. These are CommonMark's left- and right-flanking delimiter runs (§6.2).
func flanks(before, after string, strict bool) (begins, ends bool) {
	b, _ := utf8.DecodeLastRuneInString(before)
	a, _ := utf8.DecodeRuneInString(after)
	spaceBefore, spaceAfter := before == "" || unicode.IsSpace(b), after == "" || unicode.IsSpace(a)
	signBefore, signAfter := unicode.IsPunct(b) || unicode.IsSymbol(b), unicode.IsPunct(a) || unicode.IsSymbol(a)
	left := !spaceAfter && (!signAfter || spaceBefore || signBefore)
	right := !spaceBefore && (!signBefore || spaceAfter || signAfter)
	if !strict {
		return left, right
	}
	return left && (!right || signBefore), right && (!left || signAfter)
}

// twice reports whether two runs of backticks have one length, so that what stands between them is code.
func twice(s string) bool {
	var lengths []int
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		n := 0
		for i < len(s) && s[i] == '`' {
			n, i = n+1, i+1
		}
		if slices.Contains(lengths, n) {
			return true
		}
		lengths = append(lengths, n)
	}
	return false
}

// escape escapes the signs within a piece of a line.
func (e escaper) escape(s string) string {
	var b strings.Builder
	formulas := Formulas(s, nil)
	for i := 0; i < len(s); i++ {
		for len(formulas) > 0 && formulas[0].End <= i {
			formulas = formulas[1:]
		}
		if len(formulas) > 0 && formulas[0].Start == i && !inAddress(s[:i]) {
			b.WriteString(s[i:formulas[0].End])
			i = formulas[0].End - 1
			continue
		}
		if e.isEscaped(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// isEscaped reports whether a sign outside of formulas has to be escaped. Of a pair of brackets the first is enough,
// and two escaped ones may be those of a formula.
func (e escaper) isEscaped(s string, at int) bool {
	switch s[at] {
	case '\\':
		return at+1 == len(s) || s[at+1] == ' ' || isASCIISign(s[at+1])
	case '`':
		return e.ticks
	case '*':
		return e.stars
	case '_':
		return e.lines
	case '~':
		return e.tildes
	case '$':
		return e.dollars
	case '[':
		return e.brackets || ReadMarker(s[at:]).Size > 0
	case '<':
		return tagStart.MatchString(s[at:])
	case '&':
		return entity.MatchString(s[at:])
	}
	return false
}

// isASCIISign reports whether a backslash before c is an escape in Markdown.
func isASCIISign(c byte) bool {
	return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
}
