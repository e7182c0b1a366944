package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// longest is the maximum length in bytes of a sentence that is joined across abbreviations.
const longest = 2000

// Sentences returns the rune ranges of the sentences of s, in order, without surrounding white space. Blank lines
// end a sentence. A single line break ends it between rows, items or headings, but not in a wrapped paragraph.
// Abbreviations (Dr., e.g.), initials, item numbers and formulas do not end a sentence. An item number on its own
// line belongs to its item, even across blank lines. The breaks are those of Unicode's UAX #29, with wrong ones
// removed.
func Sentences(s string) [][2]int {
	s = MaskFormulas(s)
	var out [][2]int
	runes, bytes := 0, 0
	emit := func(start, end int) {
		piece := s[start:end]
		start += len(piece) - len(strings.TrimLeftFunc(piece, unicode.IsSpace))
		piece = strings.TrimSpace(piece)
		if piece == "" {
			return
		}
		runes += utf8.RuneCountInString(s[bytes:start])
		n := utf8.RuneCountInString(piece)
		out = append(out, [2]int{runes, runes + n})
		runes, bytes = runes+n, start+len(piece)
	}
	pieces := sentences.FromString(unwrapLines(s))
	start := 0 // of the current sentence
	for pieces.Next() {
		end := pieces.End()
		if end < len(s) && end-start < longest && (isUnfinished(s[start:end], s[end:]) || isMark(s[start:end])) {
			continue
		}
		emit(start, end)
		start = end
	}
	if start < len(s) {
		emit(start, len(s))
	}
	return out
}

// unwrapLines replaces line breaks in wrapped paragraphs with spaces, which keeps offsets. UAX #29 ends a sentence
// at each line break, but not at a space.
func unwrapLines(s string) string {
	i := strings.IndexByte(s, '\n')
	if i < 0 {
		return s
	}
	b := []byte(s)
	lineStart := 0
	for ; i >= 0; i = nextBreak(s, i) {
		if isWrapped(s[lineStart:i], s[i+1:]) {
			b[i] = ' '
		}
		lineStart = i + 1
	}
	return string(b)
}

// nextBreak returns the index of the next line break after s[i], or -1.
func nextBreak(s string, i int) int {
	if n := strings.IndexByte(s[i+1:], '\n'); n >= 0 {
		return i + 1 + n
	}
	return -1
}

// isWrapped reports whether the text after a line continues the line's sentence. A lower-case next line does; one
// that begins with a capital only if the line is long enough to have been wrapped.
func isWrapped(line, rest string) bool {
	trimmed := strings.TrimRight(line, " \r")
	next := strings.TrimLeft(rest, " ")
	if trimmed == "" || next == "" || next[0] == '\n' || next[0] == '\r' {
		return false
	}
	if strings.ContainsAny(line, "\t|") || strings.Contains(line, leaderDots) ||
		strings.IndexByte("-*•|#>+\t", next[0]) >= 0 || strings.HasPrefix(next, "•") {
		return false
	}
	first, _ := utf8.DecodeRuneInString(next)
	if unicode.IsLower(first) {
		alone, _, _ := strings.Cut(next, "\n")
		return !isMark(alone)
	}
	return len(trimmed) >= wrappedLine && !unicode.IsNumber(first)
}

// isUnfinished reports whether a piece between two Unicode breaks is not a whole sentence: it ends with the point
// of an abbreviation, an initial or an ordinal number. A day of the month is one if a month's name follows.
func isUnfinished(piece, rest string) bool {
	if strings.HasSuffix(piece, "\n") {
		return false
	}
	trimmed := strings.TrimRight(piece, " \u00a0\r")
	body, ok := strings.CutSuffix(trimmed, ".")
	if !ok {
		return false
	}
	body = strings.TrimSuffix(body, `\`) // Markdown escapes numbers outside of lists
	if leadsToNumber(trimmed, rest) || strings.HasSuffix(trimmed, leaderDots) {
		return true
	}
	last := lastWord(body)
	if last == "" {
		return false
	}
	if len(strings.TrimSpace(body)) == len(last) && isNumbering(last) {
		return true
	}
	if r, size := utf8.DecodeRuneInString(last); size == len(last) && unicode.IsUpper(r) && r != 'I' {
		return true // an initial
	}
	if isPlain(last) && len(last) <= 2 {
		next := strings.ToLower(Fold(firstWord(rest)))
		_, month := months[next]
		return month
	}
	last = strings.ToLower(last)
	if _, known := counted[last]; known {
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
		return unicode.IsNumber(next)
	}
	_, known := abbreviations[last]
	return known
}

// lastWord returns the text after the last space or opening bracket, at most 12 bytes.
func lastWord(s string) string {
	from := max(0, len(s)-13)
	i := strings.LastIndexAny(s[from:], " \n\t([\"“„»\u00a0")
	switch {
	case i >= 0:
		_, size := utf8.DecodeRuneInString(s[from+i:])
		return s[from+i+size:]
	case from == 0:
		return s
	}
	return ""
}

// firstWord returns the text up to the first space or punctuation mark, at most 40 bytes.
func firstWord(s string) string {
	s = s[:min(len(s), 40)]
	s = strings.TrimLeft(s, " ")
	if i := strings.IndexAny(s, " .,;\n"); i >= 0 {
		return s[:i]
	}
	return s
}

// isMark reports whether a piece is only an item number: "1.", "2)", "(3)", "iv.".
func isMark(piece string) bool {
	number := strings.TrimSpace(piece)
	if len(number) < 2 || !strings.HasSuffix(number, ".") && !strings.HasSuffix(number, ")") {
		return false
	}
	number = strings.TrimPrefix(number[:len(number)-1], "(")
	return number != "" && len(number) <= 4 && isNumbering(number)
}

// isNumbering reports whether w is an item number: 12, 3.1, a, iv.
func isNumbering(w string) bool {
	if len(w) > 8 {
		return false
	}
	if len(w) == 1 && (w[0]|0x20 >= 'a' && w[0]|0x20 <= 'z') {
		return true
	}
	return allDigits(w) || strings.Trim(w, "ivxIVX") == ""
}

// abbreviations never end a sentence before a capital or a digit. Ambiguous ones such as "etc." are not included.
var abbreviations = wordSet(`dr mr mrs ms prof st vs e.g i.e eg ie cf approx gen col sgt capt lt rev hon gov sen rep ` +
	`ca viz
	z.b u.a d.h bzw vgl evtl ggf inkl zzgl hr fr mm mme mlle p.ex c.-à-d sra srta ud uds p.ej т.е г стр рис см`)

// counted are abbreviations before a number.
var counted = wordSet(`no nos vol pp p ch chap fig figs sec sect art eq abs nr s núm pág min max ext tel jan feb mar ` +
	`apr ` +
	`jun jul aug sep sept oct
	nov dec ст п`)

// months are full names of months, folded, in English and German.
var months = wordSet(`januar februar marz april mai juni juli august september oktober november dezember january ` +
	`february march may june july october
	december`)

// leaderMarks is the minimum number of equal marks of a leader: an ellipsis at the end of a sentence has up to
// four.
const leaderMarks = 5

// leaderDots is a leader of dots.
var leaderDots = strings.Repeat(".", leaderMarks)

// Leader reports whether a line ends with a leader, the row of dots in a table of contents, with an optional page
// number. Such a line is a reference and states nothing. Marks may have spaces between them. The text before them
// must contain a letter.
func Leader(line string) bool {
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	if at := strings.LastIndexFunc(line, unicode.IsSpace); pageNumber(line[at+1:]) {
		line = strings.TrimRightFunc(line[:max(at, 0)], unicode.IsSpace)
	}
	marks := 0
	for last := utf8.RuneError; line != ""; marks++ {
		r, size := utf8.DecodeLastRuneInString(line)
		if unicode.IsLetter(r) || unicode.IsNumber(r) || marks > 0 && r != last {
			break
		}
		last, line = r, strings.TrimRight(line[:len(line)-size], " ")
	}
	return marks >= leaderMarks && strings.ContainsFunc(line, unicode.IsLetter)
}

// pageNumber reports whether a word is a page number, in digits or in lower-case Roman numerals.
func pageNumber(w string) bool {
	return w != "" && (strings.Trim(w, "0123456789") == "" || strings.Trim(w, "ivxlc") == "")
}

// leadsToNumber reports whether the first line of piece ends with a leader and rest begins with its page number.
func leadsToNumber(piece, rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	return pageNumber(strings.TrimSpace(line)) && Leader(piece)
}

const (
	fewLeaders = 3   // minimum lines of a table of contents
	fewEntries = 8   // minimum entries of an index
	entryWords = 6   // maximum average words of an entry, with its page numbers
	inOrder    = 0.8 // minimum share of an index's entries in alphabetical order
)

// Directory reports whether a text is part of a table of contents or of an index. The first has lines with leaders,
// the second names in alphabetical order, each with its pages after a comma. Such texts match many queries by words
// but answer none, so searches rank them last.
func Directory(s string) bool {
	leaders, led, all := 0, 0, 0
	for line := range strings.Lines(s) {
		n := utf8.RuneCountInString(line)
		if all += n; Leader(line) {
			leaders, led = leaders+1, led+n
		}
	}
	return leaders >= fewLeaders && led*2 >= all || isIndex(s)
}

// isIndex reports whether a text consists of index entries like "roof, 12, 47–49". It ignores line breaks, since
// lines may have been joined.
func isIndex(s string) bool {
	words := strings.Fields(s)
	entries, ordered := 0, 0
	var before, first rune // first letters of the previous and of the current entry
	for i, word := range words {
		if isPages(word) {
			continue
		}
		if first == 0 {
			first, _ = utf8.DecodeRuneInString(word)
			first = unicode.ToLower(first)
		}
		if strings.HasSuffix(word, ",") && i+1 < len(words) && isPages(words[i+1]) {
			if entries++; first >= before {
				ordered++
			}
			before, first = first, 0
		}
	}
	return entries >= fewEntries && len(words) <= entryWords*entries && float64(ordered) >= inOrder*float64(entries)
}

// isPages reports whether a word is a page number or range: "47", "47," or "47–49".
func isPages(word string) bool {
	pages := strings.Trim(word, ",")
	return pages == "" || strings.Trim(pages, "0123456789-–") == ""
}
