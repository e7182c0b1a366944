package text

import (
	"strings"
	"unicode/utf8"
)

// Shorten truncates a text to at most limit runes, at a word boundary if one is near, after collapsing white space.
// A truncated text ends with an ellipsis, which counts.
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
