package text

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text/lazy"
)

// maxListNumber is the maximum number of digits of a list item's number in Markdown.
const maxListNumber = 9

var (
	bullet    = lazy.Regexp(`^[-+*] `)
	counter   = lazy.Regexp(`^(\d{1,` + strconv.Itoa(maxListNumber) + `})([.)]) `)
	quoteMark = lazy.Regexp(`^(?:> ?)+`)
	// marked matches Markdown syntax at the beginning of a line, except list items: a heading, a fence, a quote
	// mark, a number alone
	marked = lazy.Regexp("^(?:#{1,6}(?: |$)|>|`{3}|~{3}|\\d+[.)]$)")
	// ruled matches lines of only marks, which underline a heading, form a rule or begin a table
	ruled = lazy.Regexp("^[-=_*:|+ ]+$")
)

// QuoteMarkdown returns a Markdown quotation of lines, with white space collapsed. List items stay list items.
// Other characters are escaped only if they would be rendered as syntax, so that nearly every quotation reads the
// same rendered and as text: it is later compared with the document's text. TeX formulas stay formulas. Text
// appended to its last line must begin with a space. If all lines are quoted already, their quote marks are kept as
// levels.
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
			around = quoteMark().FindString(line)
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

// collapsed returns the non-empty lines with collapsed white space.
func collapsed(lines []string) []string {
	var out []string
	for _, line := range lines {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// list is the open list at a line of a quotation: the marker of its items, and the number of the last one. The zero
// value is no list.
type list struct {
	mark   string // "-", "+", "*", "." or ")"
	number int
}

// takeLine parses a line and returns the marker of its list item, if Markdown renders the item with its own number.
// Markdown numbers items consecutively from the first. isText reports that the line begins with a number that
// starts no item: in a paragraph only the number 1 does.
func (l *list) takeLine(line string, first bool) (mark string, isText bool) {
	if mark = bullet().FindString(line); mark != "" && !ruled().MatchString(line) {
		*l = list{mark: mark[:1]}
		return mark, false
	}
	m := counter().FindStringSubmatch(line)
	if m == nil || len(m[1]) > 1 && m[1][0] == '0' { // Markdown renders no leading zeros
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

// escapedStart returns the offset for a backslash at the beginning of a line that would be syntax; -1 for none. An
// item's number is escaped after its digits, other marks before their first character.
func escapedStart(line string) int {
	if m := counter().FindStringSubmatch(line); m != nil {
		return len(m[1])
	}
	if !marked().MatchString(line) && !ruled().MatchString(line) && !bullet().MatchString(line) {
		return -1
	}
	return strings.IndexFunc(line, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
}

// escaper escapes the syntax within the lines of one block. Unpaired characters need no backslash.
type escaper struct {
	stars, lines, tildes, ticks bool // some of these form pairs
	brackets                    bool // one of them is that of a link
	dollars                     bool // would form a formula across lines
}

// newEscaper scans all lines, since emphasis and code may span line breaks.
func newEscaper(lines []string) escaper {
	whole := strings.Join(lines, "\n")
	within := 0 // formulas within one line
	for _, line := range lines {
		within += len(Formulas(line, nil))
	}
	masked := MaskFormulas(whole)
	// if the first of a run of signs is escaped, the rest of it may pair with another run
	cut := slices.ContainsFunc(lines, ruled().MatchString) || strings.Contains(whole, "```") ||
		strings.Contains(whole, "~~~")
	return escaper{
		stars: cut || pairs(masked, '*'), lines: cut || pairs(masked, '_'), tildes: cut || pairs(masked, '~'),
		ticks: cut || twice(whole), brackets: linkBracket().MatchString(whole),
		dollars: len(Formulas(whole, nil)) != within,
	}
}

// linkBracket matches the end of a link, a picture or a footnote.
var linkBracket = lazy.Regexp(`\][(\[:]`)

// pairs reports whether a run of a sign may open and a later one may close a span such as emphasis. It is more
// cautious than CommonMark, which also compares the lengths of the runs.
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

// flanks reports whether a run of signs between two texts may open and may close a span. strict is for underscores,
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

// twice reports whether two runs of backticks have the same length and so delimit code.
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

// escape escapes the Markdown syntax in a part of a line.
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

// isEscaped reports whether a character outside of formulas must be escaped. Of a pair of brackets only the first
// is escaped, since two escaped ones may delimit a formula.
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
		return tagStart().MatchString(s[at:])
	case '&':
		return entity().MatchString(s[at:])
	}
	return false
}

// isASCIISign reports whether a backslash before c is an escape in Markdown.
func isASCIISign(c byte) bool {
	return c > ' ' && c < 0x7F && !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z')
}

var (
	// entity matches an HTML character reference, lineStart block syntax at the beginning of a line, tagStart the
	// beginning of a tag, and webWord that of an address that Markdown readers autolink.
	entity    = lazy.Regexp(`^&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]*);`)
	lineStart = lazy.Regexp(`^(?:#{1,6}(?:\s|$)|[-+>=]|\d{1,9}[.)](?:\s|$))`)
	tagStart  = lazy.Regexp(`^<[A-Za-z/!?]`)
	webWord   = lazy.Regexp(`(?i)^([("']*)(https?|ftp|www)([:.])`)
)

// EscapeMarkdown returns Markdown that renders s literally, with white space collapsed, in a paragraph, a list item
// or a heading. It escapes only where necessary, so that most sentences stay unchanged. TeX formulas stay formulas.
// It is not for table cells, where a bar would end the cell, nor for code. The rules are those of CommonMark 0.31
// (§2.4 for backslashes); strikethrough and autolinks are GitHub's.
func EscapeMarkdown(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if !strings.ContainsAny(s, "\\`*_[<&~#-+>=:.)$") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	if mark := lineStart().FindString(s); mark != "" {
		at := len(strings.TrimRight(mark, " ")) - 1 // "1." is escaped before its point
		if s[0] == '#' {
			at = 0
		}
		b.WriteString(s[:at] + `\` + s[at:at+1])
		escapeFrom(&b, s, at+1)
	} else {
		escapeFrom(&b, s, 0)
	}
	return unlinkAddress(b.String())
}

// UnescapeMarkdown removes the backslash escapes of a Markdown block. It keeps formulas, which have backslashes of
// their own, and the byte ranges in passed: code spans, in order. It does not always reverse EscapeMarkdown: white
// space stays collapsed.
func UnescapeMarkdown(s string, passed [][2]int) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	kept := slices.Clone(passed)
	for _, f := range Formulas(s, passed) {
		kept = append(kept, [2]int{f.Start, f.End})
	}
	slices.SortFunc(kept, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if len(kept) > 0 && i == kept[0][0] {
			b.WriteString(s[i:kept[0][1]])
			i, kept = kept[0][1]-1, kept[1:]
			continue
		}
		if s[i] == '\\' && i+1 < len(s) && isASCIISign(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapeFrom writes s from a byte offset. A star between spaces and an underscore inside a word need no escape.
func escapeFrom(b *strings.Builder, s string, from int) {
	for i := from; i < len(s); i++ {
		c := s[i]
		if c == '\\' || c == '$' {
			if f, ok, _ := ReadFormula(s, i); ok && !inAddress(s[:i]) {
				b.WriteString(s[f.Start:f.End])
				i = f.End - 1
				continue
			}
		}
		switch c {
		case '\\', '`', '[': // an unmatched "]" is text, and \[ begins no formula
			b.WriteByte('\\')
		case '$':
			if i+1 == len(s) || s[i+1] < '0' || s[i+1] > '9' { // an amount of money is not a formula
				b.WriteByte('\\')
			}
		case '*', '~', '_':
			before, _ := utf8.DecodeLastRuneInString(s[:i])
			after, _ := utf8.DecodeRuneInString(s[i+1:])
			alone := i > 0 && i+1 < len(s) && before == ' ' && after == ' '
			within := c == '_' && isWord(before) && isWord(after)
			if !alone && !within {
				b.WriteByte('\\')
			}
		case '<':
			if tagStart().MatchString(s[i:]) {
				b.WriteByte('\\')
			}
		case '&':
			if entity().MatchString(s[i:]) {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(c)
	}
}

// inAddress reports whether the last word of a text contains the beginning of a web address.
func inAddress(before string) bool {
	word := before[strings.LastIndexByte(before, ' ')+1:]
	return strings.Contains(word, "://") || strings.Contains(strings.ToLower(word), "www.")
}

// isWord reports whether a rune is a letter or a digit.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// unlinkAddress prevents autolinks of addresses with escapes, which would end at the escape.
func unlinkAddress(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	words := strings.Split(s, " ")
	for i, word := range words {
		if strings.Contains(word, `\`) {
			words[i] = webWord().ReplaceAllString(word, `$1$2\$3`)
		}
	}
	return strings.Join(words, " ")
}
