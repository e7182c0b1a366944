package text

import (
	"strings"
	"unicode/utf8"
)

// Shorten cuts a text to at most limit runes, at a word where there is one near. White space is collapsed first. A cut
// text ends with an ellipsis, which counts.
func Shorten(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	runes := []rune(s)[:limit-1]
	cut := string(runes)
	if at := strings.LastIndexByte(cut, ' '); at > len(cut)*2/3 {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " ,;:.") + "…"
}
