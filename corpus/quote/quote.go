// Package quote finds quotes in stored text: where a quote stands, and whether word for word or only alike. Texts are
// compared as readers see them: white space, kinds of quotation marks and hyphens at a line's end do not count, words,
// numbers, signs and negations do. Positions are runes of the text as it is stored. Everything here is a pure function.
//
// quote.go levels both texts and looks for the quote as it is; alike.go looks for what is nearly the same. A citation
// is shown as verified because of what is decided here, so that the rules err on the side of not found: a quote with
// another number or without a "not" is no quote.
package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Below twelve runes 85 % would allow for one or two letters, which is another word. Above 2000 runes the comparison
// would take too long.
const (
	minApproximate = 12   // runes: a shorter quote is found word for word or not at all
	maxApproximate = 2000 // runes: a longer one too
	minAlike       = 0.85
)

// Find finds a quote in text[from:to), rune offsets, to <= 0 meaning the end. It is CheckVerified when it stands there
// word for word: white space, kinds of quotation marks and hyphens, and a hyphen at a line's end do not count, nor do
// marks around the quote. It is CheckApproximate when one contiguous run of at least 12 runes is at least 85 % alike,
// with the same numbers and negations. Else it is CheckNotFound with 0, 0. A part of a word or of a number is never a
// match. start and end are rune offsets in text. Of several places the first counts for an exact match, and the one
// with fewest edits for an approximate one.
func Find(text []rune, quote string, from, to int) (start, end int, check chat.Check) {
	if to <= 0 || to > len(text) {
		to = len(text)
	}
	if from < 0 || from >= to {
		return 0, 0, chat.CheckNotFound
	}
	wanted := level([]rune(strings.ToValidUTF8(trimQuote(quote), "")))
	if len(wanted.runes) == 0 {
		return 0, 0, chat.CheckNotFound
	}
	hay := level(text[from:to])
	a, b, ok := hay.exact(wanted.runes)
	if !ok {
		if shorter := trimStop(wanted.runes); len(shorter) < len(wanted.runes) && len(shorter) > 0 {
			a, b, ok = hay.exact(shorter)
		}
	}
	check = chat.CheckVerified
	if !ok {
		check = chat.CheckApproximate
		if a, b, ok = hay.findAlike(wanted.runes); !ok {
			return 0, 0, chat.CheckNotFound
		}
	}
	start, end = from+hay.at[a], from+hay.at[b-1]+1
	for end < to && unicode.Is(unicode.Mn, text[end]) {
		end++
	}
	return start, end, check
}

// trimQuote removes what models put around a quote.
func trimQuote(q string) string {
	return strings.TrimFunc(strings.TrimSpace(q), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'“”„«»‘’‚‹›`*…", r)
	})
}

// trimStop takes marks off the end of a quote, which writers add to end their own sentence.
func trimStop(q []rune) []rune {
	for len(q) > 0 && strings.ContainsRune(".,;:…", q[len(q)-1]) {
		q = q[:len(q)-1]
	}
	return q
}

// levelled is a text in which spellings that mean the same are the same. at holds the place in the source of each rune.
type levelled struct {
	runes []rune
	at    []int
}

// level brings a text to the form that is compared. Runs of white space become one space; a hyphen between letters is
// dropped together with a line break, so that a divided word meets a whole one; a dash stays.
func level(src []rune) levelled {
	l := levelled{make([]rune, 0, len(src)), make([]int, 0, len(src))}
	add := func(r rune, i int) { l.runes, l.at = append(l.runes, r), append(l.at, i) }
	for i := 0; i < len(src); i++ {
		r := src[i]
		switch {
		case r < utf8.RuneSelf && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'):
			add(r, i)
		case isSpace(r) || isHyphen(r):
			end, hyphen := gap(src, i)
			switch {
			case len(l.runes) == 0 && !hyphen || end == len(src) && !hyphen:
			case !hyphen:
				add(' ', i)
			case i > 0 && end < len(src) && r <= 0x2011 && !isSpace(r) && unicode.IsLetter(src[i-1]) &&
				unicode.IsLetter(src[end]):
				// a hyphen of well-known and exam-⏎ple goes, a dash stays
			default:
				add('-', i)
			}
			i = end - 1
		case r == '\u00ad' || r == '\u200b' || r == '\u200c' || r == '\u200d' || r == '\u2060' || r == '\ufeff':
		case strings.ContainsRune("‘’‚‹›`´′", r):
			add('\'', i)
		case strings.ContainsRune("“”„«»″", r):
			add('"', i)
		case r == '…':
			add('.', i)
			add('.', i)
			add('.', i)
		case r >= 0xfb00 && r <= 0xfb06: // ﬁ, ﬂ …
			for _, part := range text.Fold(string(r)) {
				add(part, i)
			}
		default:
			if n := len(l.runes); n > 0 {
				if composed, ok := text.Compose(l.runes[n-1], r); ok {
					l.runes[n-1] = composed
					continue
				}
			}
			add(r, i)
		}
	}
	return l
}

// gap returns the end of a run of spaces and hyphens and whether there is a hyphen in it.
func gap(src []rune, i int) (end int, hyphen bool) {
	for end = i; end < len(src) && (isSpace(src[end]) || isHyphen(src[end])); end++ {
		hyphen = hyphen || isHyphen(src[end])
	}
	return end, hyphen
}

// isSpace adds two narrow spaces that Unicode does not count as white space everywhere.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u202f' || r == '\u2009' }

// isHyphen takes hyphens, dashes and the minus sign.
func isHyphen(r rune) bool { return r == '-' || r >= 0x2010 && r <= 0x2015 || r == 0x2212 }

// exact finds the first occurrence of q that does not cut a word or a number. It goes on behind a match that cuts a
// word: "art" must not be found in "part".
func (l levelled) exact(q []rune) (a, b int, ok bool) {
	hay, needle := string(l.runes), string(q)
	for done := 0; ; {
		i := strings.Index(hay, needle)
		if i < 0 {
			return 0, 0, false
		}
		a = done + utf8.RuneCountInString(hay[:i])
		b = a + len(q)
		if l.whole(a, b) {
			return a, b, true
		}
		_, size := utf8.DecodeRuneInString(hay[i:])
		hay, done = hay[i+size:], a+1
	}
}

// whole reports whether [a, b) starts and ends at the edges of words and numbers. "5" is not a match in "1.5", nor in
// "-5".
func (l levelled) whole(a, b int) bool {
	r := l.runes
	if a > 0 && l.inWord(a) || b < len(r) && l.inWord(b) {
		return false
	}
	if a > 0 && unicode.IsDigit(r[a]) {
		switch point := r[a-1] == '.' || r[a-1] == ','; {
		case point && a > 1 && unicode.IsDigit(r[a-2]):
			return false
		case r[a-1] == '-' && (a == 1 || !wordy(r[a-2])):
			return false
		}
	}
	if b+1 < len(r) && unicode.IsDigit(r[b-1]) && (r[b] == '.' || r[b] == ',') && unicode.IsDigit(r[b+1]) {
		return false
	}
	return true
}

// inWord reports whether a word goes on from i-1 to i. A hyphen that was dropped between them ends it.
func (l levelled) inWord(i int) bool {
	return wordy(l.runes[i-1]) && wordy(l.runes[i]) && l.at[i]-l.at[i-1] <= 1
}

// wordy reports whether r is part of a word in a script with spaces between words.
func wordy(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_') && !text.Unspaced(r)
}
