package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	fewLeaders = 3   // lines of a table of contents
	fewEntries = 8   // of an index
	entryWords = 6   // on average with its page numbers
	inOrder    = 0.8 // of an index's entries begin with the letter of the one before or a later one
)

// Directory reports whether a text is a piece of a table of contents or of an index: it says on which pages something
// is said, and states nothing itself. The first has lines with leaders, the second names in alphabetical order, each
// with its pages behind a comma. Such pieces match many questions by their words and answer none, so that searches put
// them behind others.
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

// isIndex reports whether a text is of entries like "roof, 12, 47–49". Words are taken as they come, since lines may
// have been joined.
func isIndex(s string) bool {
	words := strings.Fields(s)
	entries, ordered := 0, 0
	var before, first rune // how the last entry and the one at work begin
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

// isPages reports whether a word is a page, or pages: "47", "47," or "47–49".
func isPages(word string) bool {
	pages := strings.Trim(word, ",")
	return pages == "" || strings.Trim(pages, "0123456789-–") == ""
}
