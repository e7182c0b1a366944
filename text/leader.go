package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// leaderMarks is how many equal marks in a row are a leader: an ellipsis at the end of a sentence has up to four.
const leaderMarks = 5

// leaderDots is a leader of the usual marks.
var leaderDots = strings.Repeat(".", leaderMarks)

// Leader reports whether a line ends with a leader, the row of dots in a table of contents, or with one and a page
// number behind it. Such a line names something that stands elsewhere and states nothing itself. Marks may have spaces
// between them. Something with a letter must stand before them.
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

// pageNumber reports whether a word is a page's number, in digits or in small Roman numerals.
func pageNumber(w string) bool {
	return w != "" && (strings.Trim(w, "0123456789") == "" || strings.Trim(w, "ivxlc") == "")
}

// leadsToNumber reports whether the line that piece begins ends with a leader and the page number that begins rest.
func leadsToNumber(piece, rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	return pageNumber(strings.TrimSpace(line)) && Leader(piece)
}
