package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of an identifier: its words, and the bytes of its term.
const (
	maxIdentifierWords = 12
	maxIdentifier      = 48
	minIdentifier      = 4
	maxAcronym         = 5 // letters of a word that belongs to the number behind it: TLS 1.3
)

// Identifiers returns the identifiers, amounts and dates in a text as terms that do not depend on how they are
// written, with their positions in runes. An identifier is joined without its separators: “DE89 3704 0044” and
// “DE8937040044” are de8937040044, “ERR-2041” is err2041, “TLS 1.3” is tls1.3. An amount is a decimal number:
// “1.234,50 €” is 1234.5. A date is its day: “12 March 2026” is 20260312. Words that are such a term as they stand are
// left out, since Terms has them.
func Identifiers(s string) (out []Span) {
	at := runeCounter{s: s}
	identifiers(s, false, func(term string, start, end int) {
		from := at.to(start)
		out = append(out, Span{term, from, from + utf8.RuneCountInString(s[start:end])})
	})
	return out
}

// identifiers calls found with each term of Identifiers and its byte range. In a query any short word before a number
// may belong to it: tls 1.3.
func identifiers(s string, query bool, found func(term string, start, end int)) {
	if strings.IndexAny(s, "0123456789") < 0 {
		return
	}
	var words []token // neighbours that may be one identifier
	numbers := 0
	add := func(term string, first, last token) {
		if len(term) >= minIdentifier && len(term) <= maxIdentifier && term != Fold(s[first.start:last.end]) {
			found(term, first.start, last.end)
		}
	}
	flush := func() {
		if numbers > 0 {
			for _, run := range runsOf(s, words, query) {
				add(joinWords(s, run), run[0], run[len(run)-1])
			}
			valuesIn(s, words, add)
		}
		words, numbers = words[:0], 0
	}
	before := false // the word before has a digit
	scanTokens(s, func(t token) bool {
		digit := !t.grams && hasDigit(s, t)
		if n := len(words); t.grams || n > 0 && t.start-words[n-1].end > maxGap ||
			n > 2 && !digit && !before && !signBetween(s, words[n-1].end, t.start) {
			if n > 2 && !t.grams { // it may belong to the number behind it
				last := words[n-1]
				flush()
				words = append(words, last)
			} else {
				flush()
			}
		}
		if before = digit; digit {
			numbers++
		}
		if !t.grams {
			words = append(words, t)
		}
		return true
	})
	flush()
}

// hasDigit reports whether a word has a digit.
func hasDigit(s string, t token) bool {
	for _, c := range []byte(s[t.start:t.end]) {
		if isDigit(c) {
			return true
		}
	}
	return false
}

// signBetween reports whether there is anything but one space between two offsets.
func signBetween(s string, from, to int) bool { return s[from:to] != " " }

// maxGap is the maximum number of bytes between two words of an identifier.
const maxGap = 5

// runeCounter converts byte offsets to rune offsets. Neighbouring offsets are fast.
type runeCounter struct {
	s           string
	byte, runes int
}

func (c *runeCounter) to(byte int) int {
	if byte >= c.byte {
		c.runes += utf8.RuneCountInString(c.s[c.byte:byte])
	} else {
		c.runes -= utf8.RuneCountInString(c.s[byte:c.byte])
	}
	c.byte = byte
	return c.runes
}

// gap is what is between two words.
type gap int

const (
	gapNone  gap = iota // they are apart
	gapSign             // one sign of identifiers
	gapSpace            // one space
	gapTimes            // a sign of multiplication
)

// gapAt returns the gap behind a word.
func gapAt(s string, words []token, i int) gap {
	switch strings.ReplaceAll(s[words[i].end:words[i+1].start], "\u00a0", " ") {
	case "-", "‐", "‑", "–", "/", "_", ".", ":", " - ", " / ":
		return gapSign
	case " ", ") ", " (", ")":
		return gapSpace
	case " × ", "×":
		return gapTimes
	}
	return gapNone
}

// runsOf returns the words of each identifier: of neighbouring words with signs between, of words with digits with
// spaces between, and of an acronym with such.
func runsOf(s string, words []token, query bool) (runs [][]token) {
	for i := 0; i < len(words); {
		// Words that signs join.
		end := i + 1
		digit := hasDigit(s, words[i])
		for end < len(words) && end-i < maxIdentifierWords && gapAt(s, words, end-1) == gapSign {
			digit = digit || hasDigit(s, words[end])
			end++
		}
		if end-i > 1 && digit {
			runs = append(runs, words[i:end])
		}
		// With the words behind them that have digits, too.
		long := end
		for digit && long < len(words) && long-i < maxIdentifierWords {
			g := gapAt(s, words, long-1)
			times := long+1 < len(words) && g == gapSpace &&
				strings.EqualFold(s[words[long].start:words[long].end], "x") && gapAt(s, words, long) == gapSpace &&
				hasDigit(s, words[long+1])
			switch {
			case times:
				long += 2
				continue
			case g == gapNone, !hasDigit(s, words[long]) && g != gapSign:
			default:
				long++
				continue
			}
			break
		}
		if long > end {
			runs = append(runs, words[i:long])
		}
		if i > 0 && digit && isAcronym(s, words[i-1], query) && gapAt(s, words, i-1) == gapSpace {
			runs = append(runs, words[i-1:long])
		}
		i = max(end, long)
	}
	return runs
}

// isAcronym reports whether a word may be the beginning of an identifier.
func isAcronym(s string, t token, query bool) bool {
	word := s[t.start:t.end]
	if utf8.RuneCountInString(word) > maxAcronym || strings.ContainsAny(word, "0123456789") {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) || !query && !unicode.IsUpper(r)
	})
}

// joinWords returns the term of an identifier.
func joinWords(s string, run []token) string {
	var b strings.Builder
	for i, t := range run {
		if i > 0 && strings.ContainsRune(s[run[i-1].end:t.start], '×') {
			b.WriteByte('x')
		}
		b.WriteString(foldLower(cleanToken(cutToken(s[t.start:t.end]))))
	}
	return strings.ReplaceAll(b.String(), "_", "")
}

// valuesIn adds the amounts and dates of neighbouring words.
func valuesIn(s string, words []token, add func(term string, first, last token)) {
	for i, t := range words {
		raw := s[t.start:t.end]
		if strings.IndexByte(raw, '_') > 0 && hasDigit(s, t) {
			add(joinWords(s, words[i:i+1]), t, t)
		}
		if i > 1 {
			if term := namedDay(s, words[i-2:i+1]); term != "" {
				add(term, words[i-2], t)
			}
		}
		if !isDigit(raw[0]) || t.start > 0 && (isDigit(s[t.start-1]) || strings.IndexByte(",.'", s[t.start-1]) >= 0) {
			continue
		}
		end := t.end
		for end < len(s) && (isDigit(s[end]) ||
			end+1 < len(s) && strings.IndexByte(",.'", s[end]) >= 0 && isDigit(s[end+1])) {
			end++
		}
		term := amount(s[t.start:end])
		if term == "" {
			term = numericDay(s[t.start:end])
		}
		if term != "" && term != cleanToken(raw) {
			add(term, t, token{start: t.start, end: end})
		}
	}
}

// amount returns a number with decimals or with groups of three digits as a decimal number without trailing zeros;
// empty for other numbers.
func amount(s string) string {
	point := strings.LastIndexAny(s, ".,")
	if point < 0 && strings.Contains(s, "'") {
		point = strings.LastIndexByte(s, '\'')
	}
	if point < 0 || len(s) > maxIdentifier {
		return ""
	}
	whole, fraction := s[:point], s[point+1:]
	groups := strings.FieldsFunc(whole, func(r rune) bool { return r == '.' || r == ',' || r == '\'' })
	if len(fraction) == 3 && s[point] != '.' || len(fraction) == 3 && len(groups) > 1 { // 1,234 and 1.234.567
		groups, fraction = append(groups, fraction), ""
	} else if len(fraction) > 2 {
		return ""
	}
	for i, g := range groups {
		if i > 0 && len(g) != 3 || i == 0 && len(groups) > 1 && len(g) > 3 || !isPlain(g) {
			return ""
		}
	}
	if !isPlain(fraction) || len(groups) == 0 || len(groups) == 1 && len(groups[0]) > 1 && groups[0][0] == '0' {
		return ""
	}
	number := strings.Join(groups, "")
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		number += "." + fraction
	}
	return number
}

// numericDay returns the day of a date with points, such as 12.03.2026.
func numericDay(s string) string {
	parts := strings.Split(s, ".")
	if len(parts) != 3 || len(parts[2]) != 4 {
		return ""
	}
	return day(parts[2], parts[1], parts[0])
}

// namedDay returns the day of three words with the name of a month: 12 March 2026, March 12, 2026.
func namedDay(s string, words []token) string {
	a, b, c := s[words[0].start:words[0].end], s[words[1].start:words[1].end], s[words[2].start:words[2].end]
	if len(c) != 4 || !isPlain(c) {
		return ""
	}
	number := func(d string) string { return strings.TrimRight(strings.ToLower(d), "stndrhe") }
	if m := Month(b); m > 0 && isDigit(a[0]) {
		return day(c, strconv.Itoa(m), number(a))
	}
	if m := Month(a); m > 0 && isDigit(b[0]) {
		return day(c, strconv.Itoa(m), number(b))
	}
	return ""
}

// day returns a day as eight digits; empty if there is no such day.
func day(year, month, day string) string {
	y, err := strconv.Atoi(year)
	m, err2 := strconv.Atoi(month)
	d, err3 := strconv.Atoi(day)
	if err != nil || err2 != nil || err3 != nil || m < 1 || m > 12 || d < 1 || d > 31 || y < 1000 {
		return ""
	}
	return fmt.Sprintf("%04d%02d%02d", y, m, d)
}
