package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether r shows nothing and means nothing in any text: tag characters, which spell a text that no
// reader sees, other unassigned signs that are never drawn, deprecated format controls and the controls of annotations.
// The flags of England, Scotland and Wales as emoji are written with tags and lose them. Tag characters are U+E0000 to
// U+E007F, which have been used to hide orders for models in documents.
func Hidden(r rune) bool {
	switch {
	case r < 0x2000:
		return false
	case r >= 0xE0000 && r <= 0xE0FFF:
		return !unicode.Is(unicode.Variation_Selector, r)
	case r >= 0xFFF0 && r <= 0xFFFB || r == 0x2065:
		return true
	}
	return unicode.Is(unicode.Cf, r) && unicode.Is(unicode.Deprecated, r)
}

// isInvisible reports whether r is drawn as nothing, though it may have a meaning beside letters: joiners, marks of
// direction, variation selectors, fillers.
func isInvisible(r rune) bool {
	if r < 0x34F || r >= 0x3400 && r <= 0xD7FF { // Latin and Greek, Chinese and Korean
		return r == 0xAD
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Sieve decides rune by rune what of a text a reader could see. Besides what is Hidden it leaves out a variation
// selector behind another and, of any invisible signs in a row, all but the first two: writing needs no more, and such
// runs can spell out a text. The zero value is ready. A text goes through one Sieve from its beginning to its end.
type Sieve struct {
	run      int // invisible signs right before
	selector bool
}

// Keep reports whether the next rune stays.
func (s *Sieve) Keep(r rune) bool {
	if r < 0xAD { // nearly always
		s.run, s.selector = 0, false
		return true
	}
	if Hidden(r) {
		return false
	}
	if !isInvisible(r) {
		s.run, s.selector = 0, false
		return true
	}
	selector := unicode.Is(unicode.Variation_Selector, r)
	if s.run >= 2 || selector && s.selector {
		return false
	}
	s.run, s.selector = s.run+1, selector
	return true
}

// Visible returns s without what a Sieve leaves out. Most texts come back as they are. Nothing is copied as long as
// everything stays.
func Visible(s string) string {
	var check Sieve
	for i, r := range s {
		if check.Keep(r) {
			continue
		}
		var b strings.Builder
		b.Grow(len(s))
		var keep Sieve
		for j, r := range s {
			if _, size := utf8.DecodeRuneInString(s[j:]); j < i || keep.Keep(r) {
				if j < i {
					keep.Keep(r)
				}
				b.WriteString(s[j : j+size])
			}
		}
		return b.String()
	}
	return s
}

// Blank reports whether nothing of s is drawn: it is empty, or has spaces and signs that show nothing.
func Blank(s string) bool {
	for _, r := range s {
		// a Braille letter without dots
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !Hidden(r) && !isInvisible(r) && r != '\u2800' {
			return false
		}
	}
	return true
}
