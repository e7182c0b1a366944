package doctext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

// Line normalises a single line: it collapses white space, drops control characters and cuts at 500 runes. It
// applies to everything that is shown in one line or stored in metadata: titles, file names, authors.
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

// Slice returns the part of a text between two rune offsets, as blocks have them. It counts from the start, and is
// therefore for short offsets. An end beyond the text means the end of the text.
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
