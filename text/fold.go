package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns s in lower case, without diacritics on Latin and Greek letters, with compatibility forms (ﬁ, Ａ, ①)
// replaced by their plain ones. Offsets do not carry over. It compares what people type with what is written, and is
// also what terms end in.
func Fold(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return foldLower(strings.ToLower(norm.NFKC.String(s)))
}

// isASCII reports whether nothing has to be folded but capitals.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// foldLower removes the diacritics of a text in lower case. Marks of other scripts stay: in Hindi or Thai they are
// vowels.
func foldLower(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	folding := false // the base letter before is one whose marks go
	for _, r := range norm.NFD.String(s) {
		switch {
		case r < utf8.RuneSelf:
			folding = true
			b.WriteByte(byte(r))
		case r >= 0x0300 && r <= 0x036f: // combining diacritical marks
			if !folding && r != 0x0308 { // Cyrillic й keeps its breve, ё loses its dots
				b.WriteRune(r)
			}
		case r >= 0x0591 && r <= 0x05c7 && unicode.IsMark(r), r >= 0x064b && r <= 0x065f, r == 0x0670, r == 0x0640:
			// Hebrew points, Arabic vowels and the tatweel are optional in writing
		default:
			folding = unicode.In(r, unicode.Latin, unicode.Greek)
			if plain, ok := strokes[r]; ok {
				b.WriteString(plain)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return norm.NFC.String(b.String())
}

// strokes are letters whose marks Unicode does not take apart.
var strokes = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ð': "d", 'þ': "th", 'ł': "l", 'ı': "i", 'ħ': "h", 'ŋ': "n",
	'ŧ': "t", 'ς': "σ",
}

// cleanToken brings a token to lower case and its plain form, without what may not stand in a term.
func cleanToken(t string) string {
	if isASCII(t) {
		t = strings.ToLower(t)
		if strings.IndexByte(t, ',') < 0 {
			return t
		}
		return plainNumber(t)
	}
	t = strings.ToLower(norm.NFKC.String(t))
	for _, r := range t {
		if !inTerm(r) {
			return plainNumber(strings.Map(func(r rune) rune {
				if inTerm(r) || r == ',' {
					return r
				}
				return -1
			}, t))
		}
	}
	return t
}

// inTerm reports whether a rune may stand in a term. Stores rely on it: no term has a space or a sign of their own.
func inTerm(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_' || r == '.'
}

// plainNumber writes 1,000 as 1000 and 3,5 as 3.5. What follows the last comma are decimals if it is shorter than three
// digits.
func plainNumber(t string) string {
	if i := strings.LastIndexByte(t, ','); i >= 0 && len(t)-i-1 < 3 {
		return strings.ReplaceAll(t[:i], ",", "") + "." + t[i+1:]
	}
	return strings.ReplaceAll(t, ",", "")
}

// cutToken shortens a token to maxToken bytes at a rune's edge.
func cutToken(t string) string {
	if len(t) <= maxToken {
		return t
	}
	n := maxToken
	for n > 0 && !utf8.RuneStart(t[n]) {
		n--
	}
	return t[:n]
}
