// Package quote locates quotes in stored text, verbatim or approximately. Texts are compared after normalisation:
// white space, kinds of quotation marks and hyphens at line ends are ignored; words, numbers, signs and negations
// are not. Positions are runes of the stored text. All functions are pure.
//
// quote.go normalises both texts and searches for verbatim quotes; alike.go searches approximately. A citation is
// shown as verified by this result, so the rules favour "not found": a quote with another number or without a "not"
// is not found.
package quote

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Below twelve runes, 85 % would allow one or two other letters, which is another word. Above 2000 runes the
// comparison would take too long.
const (
	minApproximate = 12   // minimum runes: shorter quotes are only matched verbatim
	maxApproximate = 2000 // maximum runes: longer quotes are only matched verbatim
	minAlike       = 0.85
)

// Find locates a quote in text[from:to), rune offsets; to <= 0 means the end. It returns CheckVerified for a
// verbatim match, ignoring white space, kinds of quotation marks and hyphens, hyphens at line ends, and marks
// around the quote. It returns CheckApproximate if one contiguous run of at least 12 runes is at least 85 %
// similar, with the same numbers and negations. Otherwise it returns CheckNotFound with 0, 0. Partial words or
// numbers never match. start and end are rune offsets in text. Find returns the first verbatim match, or the
// approximate match with the fewest edits.
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

// trimQuote removes white space, quotation marks and Markdown that models put around a quote.
func trimQuote(q string) string {
	return strings.TrimFunc(strings.TrimSpace(q), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune("\"'“”„«»‘’‚‹›`*…", r)
	})
}

// trimStop removes final punctuation of a quote, which writers add to end their own sentence.
func trimStop(q []rune) []rune {
	for len(q) > 0 && strings.ContainsRune(".,;:…", q[len(q)-1]) {
		q = q[:len(q)-1]
	}
	return q
}

// levelled is a normalised text. at holds the source offset of each rune.
type levelled struct {
	runes []rune
	at    []int
}

// level normalises a text for comparison. Runs of white space become one space; a hyphen between letters is removed
// together with a line break, so that a hyphenated word matches a whole one; a dash stays.
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
				// the hyphens of well-known and exam-⏎ple are removed, a dash stays
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

// gap returns the end of a run of spaces and hyphens and whether it contains a hyphen.
func gap(src []rune, i int) (end int, hyphen bool) {
	for end = i; end < len(src) && (isSpace(src[end]) || isHyphen(src[end])); end++ {
		hyphen = hyphen || isHyphen(src[end])
	}
	return end, hyphen
}

// isSpace reports whether r is white space, including two narrow spaces that unicode.IsSpace lacks.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u202f' || r == '\u2009' }

// isHyphen reports whether r is a hyphen, a dash or the minus sign.
func isHyphen(r rune) bool { return r == '-' || r >= 0x2010 && r <= 0x2015 || r == 0x2212 }

// exact returns the first match of q at word and number boundaries. It skips partial words: "art" must not match in
// "part".
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

// whole reports whether [a, b) begins and ends at word and number boundaries. "5" does not match in "1.5" or "-5".
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

// inWord reports whether i-1 and i are in the same word. A removed hyphen is a word boundary.
func (l levelled) inWord(i int) bool {
	return wordy(l.runes[i-1]) && wordy(l.runes[i]) && l.at[i]-l.at[i-1] <= 1
}

// wordy reports whether r is part of a word in a script with spaces between words.
func wordy(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_') && !text.Unspaced(r)
}
