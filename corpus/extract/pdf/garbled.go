package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/footnote/footnote/text"
)

const (
	fewTokens  = 20   // words below which a page's text is not judged
	sampled    = 12   // lines of a page that are judged, or up to twice as many
	plausible  = 0.5  // share of words with the form of one
	fewVowels  = 0.32 // of letters; all languages have more
	manyVowels = 0.58 // fewer
)

// isGarbled reports whether the text of a page is garbled: most of its words mix letters, digits and marks, or too few
// or too many of its letters are vowels and its language is unknown. Scanners write such text below their pictures if
// they don't know the language, or if their letters are counted wrongly.
func (s *sheet) isGarbled() bool {
	words, good, letters, vowels := 0, 0, 0, 0
	step := len(s.lines)/sampled + 1
	for i := 0; i < len(s.lines); i += step {
		for _, w := range s.lines[i].words {
			if first, _ := utf8.DecodeRuneInString(w.text); isUnspaced(first) {
				continue
			}
			t := strings.TrimFunc(w.text, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
			if t == "" {
				continue
			}
			words++
			if hasWordForm(t) {
				good++
			}
			for _, c := range t {
				if unicode.Is(unicode.Latin, c) {
					letters++
					base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(unicode.ToLower(c))))
					if strings.ContainsRune("aeiouyæœøı", base) {
						vowels++
					}
				}
			}
		}
	}
	if words < fewTokens {
		return false
	}
	if float64(good) < plausible*float64(words) {
		return true
	}
	if share := float64(vowels) / float64(max(letters, 1)); letters < 4*fewTokens || share > fewVowels &&
		share < manyVowels {
		return false
	}
	var b strings.Builder
	for i := range s.lines {
		b.WriteString(s.lines[i].joinWords() + " ")
	}
	return text.DetectForCertain(b.String()) == ""
}

// hasWordForm reports whether a word is a number or has at least two letters, in one case but for the first. An
// apostrophe or a hyphen separates such words.
func hasWordForm(s string) bool {
	if strings.Trim(s, "0123456789.,:/-'%") == "" {
		return true
	}
	for part := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune("-'’/.", r) }) {
		upper, lower, all := 0, 0, 0
		for i, c := range part {
			switch {
			case unicode.IsUpper(c) && i > 0:
				upper++
			case unicode.IsLower(c) && i > 0:
				lower++
			case !unicode.IsLetter(c) && !unicode.Is(unicode.M, c):
				return false
			}
			all++
		}
		if upper > 0 && lower > 0 || all < 2 && len(part) == len(s) {
			return false
		}
	}
	return true
}
