package text

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Compose returns the one rune that a base letter and a combining mark make, if there is one. The marks are the
// combining diacritical marks (U+0300 to U+036F) and the two of kana. PDFs often have letter and mark apart.
func Compose(base, mark rune) (rune, bool) {
	if mark < 0x0300 || mark > 0x036f && mark != 0x3099 && mark != 0x309a {
		return 0, false
	}
	s := norm.NFC.String(string([]rune{base, mark}))
	r, size := utf8.DecodeRuneInString(s)
	return r, size == len(s)
}

// Unspaced reports whether r belongs to a script that is written without spaces between words, or to Hangul.
func Unspaced(r rune) bool { return isUnspaced(r) }
