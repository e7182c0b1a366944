package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// entity is a character reference of HTML, lineStart what means something at the beginning of a line, tagStart the
	// beginning of a tag, and webWord that of an address which readers of Markdown make a link of by themselves.
	entity    = regexp.MustCompile(`^&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]*);`)
	lineStart = regexp.MustCompile(`^(?:#{1,6}(?:\s|$)|[-+>=]|\d{1,9}[.)](?:\s|$))`)
	tagStart  = regexp.MustCompile(`^<[A-Za-z/!?]`)
	webWord   = regexp.MustCompile(`(?i)^([("']*)(https?|ftp|www)([:.])`)
)

// EscapeMarkdown returns Markdown that shows s as it is, its white space collapsed: as words of a paragraph, a list
// item or a heading. It escapes only what would mean something, so that most sentences stay as they are. Formulas in
// TeX stay formulas. It is not for a cell of a table, where a bar would end the cell, nor for code. CommonMark 0.31 has
// the rules (§2.4 for backslashes); strikethrough and autolinks are GitHub's.
func EscapeMarkdown(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if !strings.ContainsAny(s, "\\`*_[<&~#-+>=:.)$") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	if mark := lineStart.FindString(s); mark != "" {
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

// UnescapeMarkdown returns one block of Markdown without the backslashes that escape the sign behind them. Formulas
// have backslashes of their own and stay, and so does what stands in the places that are passed over: code spans, in
// order. It is not the reverse of EscapeMarkdown in every case: white space stays collapsed.
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

// escapeFrom writes s from a byte on. A star between spaces and an underscore inside a word mean nothing, and stay.
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
		case '\\', '`', '[': // without its bracket, a "]" is one of the text, and \[ begins no formula
			b.WriteByte('\\')
		case '$':
			if i+1 == len(s) || s[i+1] < '0' || s[i+1] > '9' { // an amount of money is no formula
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
			if tagStart.MatchString(s[i:]) {
				b.WriteByte('\\')
			}
		case '&':
			if entity.MatchString(s[i:]) {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(c)
	}
}

// inAddress reports whether the last word of a text is, or holds, the beginning of a web address.
func inAddress(before string) bool {
	word := before[strings.LastIndexByte(before, ' ')+1:]
	return strings.Contains(word, "://") || strings.Contains(strings.ToLower(word), "www.")
}

// isWord reports whether a rune is a letter or a digit.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// unlinkAddress keeps an address that holds an escape from becoming a link, which would end at the escape.
func unlinkAddress(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	words := strings.Split(s, " ")
	for i, word := range words {
		if strings.Contains(word, `\`) {
			words[i] = webWord.ReplaceAllString(word, `$1$2\$3`)
		}
	}
	return strings.Join(words, " ")
}
