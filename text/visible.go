package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether r is invisible and has no meaning in any text: tag characters (U+E0000 to U+E007F), other
// unassigned invisible characters, deprecated format controls and annotation controls. Tag characters have been
// used to hide prompt injections in documents. The emoji flags of England, Scotland and Wales contain tags, which
// they lose.
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

// isInvisible reports whether r is invisible, but may have a meaning next to letters: joiners, directional marks,
// variation selectors, fillers.
func isInvisible(r rune) bool {
	if r < 0x34F || r >= 0x3400 && r <= 0xD7FF { // Latin and Greek, Chinese and Korean
		return r == 0xAD
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

// Sieve filters runes that a reader can't see. Besides Hidden runes it removes repeated variation selectors and, in
// a run of invisible characters, all but the first two: scripts need no more, and longer runs can encode hidden
// text. The zero value is ready to use. A text must pass through one Sieve from start to end.
type Sieve struct {
	run      int // invisible runes directly before
	selector bool
}

// Keep reports whether the next rune is kept.
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

// Visible returns s without the runes that a Sieve removes. It copies only if there are any.
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

// Blank reports whether s is invisible: empty, or only spaces and invisible characters.
func Blank(s string) bool {
	for _, r := range s {
		// Braille pattern blank
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !Hidden(r) && !isInvisible(r) && r != '\u2800' {
			return false
		}
	}
	return true
}
