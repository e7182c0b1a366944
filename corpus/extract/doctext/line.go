package doctext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// Line cleans a single line such as a title: white space collapsed, control characters dropped, cut at 500 runes.
// Everything that is shown in one line, or kept in metadata, goes through it: titles, names of files, authors.
func Line(s string) string {
	s = text.Visible(strings.ToValidUTF8(s, ""))
	s = strings.Map(func(r rune) rune {
		if Dropped(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > 500 {
		s = string([]rune(s)[:500])
	}
	return s
}

// Slice returns the part of a text between two rune offsets. It is for the beginning of a text, from which it counts.
// Both are offsets as blocks have them; an end beyond the text is the text's end.
func Slice(s string, start, end int) string {
	from := len(s)
	for at := range s {
		if start == 0 {
			from = min(from, at)
		}
		if end == 0 {
			return s[from:at]
		}
		start, end = start-1, end-1
	}
	return s[from:]
}
