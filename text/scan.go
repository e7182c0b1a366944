// Package text turns prose of any language into what the library works with: terms for the lexical index, sentences,
// token counts and languages. All of it is linear in its input and accepts invalid UTF-8. Its functions are safe for
// concurrent use.
//
// scan.go cuts a text into words and runs, fold.go and stem.go make terms of these, terms.go puts both together, and
// query.go does so for a question. sentences.go and statements.go find what can be read by itself, detect.go tells the
// language. formula.go and its neighbour know TeX, markdown.go and quote_markdown.go escape Markdown, marker.go and
// running.go read footnotes of models. The rest are small tests of a line's or a word's form.
//
// Documents and questions must go through the same functions: a term that is made in two ways is never found. A change
// here therefore needs the index to be made anew. It is a leaf: it imports nothing of this module.
package text

import (
	"unicode"
	"unicode/utf8"
)

// maxToken bounds one token in bytes: what is longer (keys, encoded data) is cut, so that it stays findable by its
// start.
const maxToken = 96

// token is a word or an unbroken run of a script that is written without spaces. Offsets are bytes. A number with
// points or commas in it is one token, see joinSize.
type token struct {
	start, end int
	grams      bool // to be cut in bigrams
	beside     bool // an apostrophe joins it to its neighbour: l'école, don't
}

// scanTokens yields the tokens of s in order until yield returns false. It looks at each byte a bounded number of
// times. ASCII letters, the most frequent, take a short way.
func scanTokens(s string, yield func(token) bool) {
	afterApostrophe := -1 // where a word would have to start to be beside one
	for i := 0; i < len(s); {
		class, size := classifyAt(s, i)
		if class == classOther || class == classRaised {
			i += size
			continue
		}
		t := token{start: i, grams: class == classGram, beside: i == afterApostrophe}
		i += size
		for i < len(s) {
			if c := s[i]; c < utf8.RuneSelf && asciiClass[c] == classWord && !t.grams {
				i++
				continue
			}
			class, size := classifyAt(s, i)
			if class == classOther && !t.grams {
				if n := joinSize(s, t.start, i, size); n > 0 {
					i += n
					continue
				}
			}
			if class == classRaised && !t.grams && isUnit(s[t.start:i]) {
				class = classWord
			}
			if class == classOther || class == classRaised || (class == classGram) != t.grams {
				break
			}
			i += size
		}
		t.end = i
		if n := apostropheSize(s, i); n > 0 && !t.grams && i+n < len(s) {
			if class, _ := classifyAt(s, i+n); class == classWord {
				t.beside, afterApostrophe = true, i+n
			}
		}
		if !yield(t) {
			return
		}
	}
}

// class says what a rune is for words: nothing, part of a word, a sign of a run, or a raised digit.
type class uint8

const (
	classOther class = iota
	classWord
	classGram
	classRaised // a superscript digit
)

// isUnit reports whether a superscript digit belongs to a piece of a word: to a unit or a variable, as in m², km² and
// x². Behind a number or a longer word it is the mark of a note.
func isUnit(piece string) bool {
	return !isDigit(piece[len(piece)-1]) && utf8.RuneCountInString(piece) <= 3
}

var asciiClass = func() (table [utf8.RuneSelf]class) {
	for c := range table {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' {
			table[c] = classWord
		}
	}
	return table
}()

// classifyAt returns the class of the rune at s[i] and its size in bytes. Marks belong to the word that they stand on.
func classifyAt(s string, i int) (class, int) {
	if c := s[i]; c < utf8.RuneSelf {
		return asciiClass[c], 1
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case IsSuperscript(r):
		return classRaised, size
	case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
		return classOther, size
	case isUnspaced(r) && !unicode.IsNumber(r):
		return classGram, size
	default:
		return classWord, size
	}
}

// isUnspaced reports whether r belongs to a script whose words are not separated by spaces, or, for Hangul, whose words
// carry particles that bigrams see through. The ranges are blocks of Unicode, compared as numbers because it is asked
// for each rune above ASCII.
func isUnspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff, // Thai, Lao
		r >= 0x1000 && r <= 0x11ff && !(r >= 0x10a0 && r <= 0x10ff), // Myanmar, Hangul Jamo
		r >= 0x1780 && r <= 0x17ff,                                  // Khmer
		r >= 0x3005 && r <= 0x9fff,                                  // kana, Bopomofo, Han
		r >= 0xa960 && r <= 0xa97f, r >= 0xac00 && r <= 0xd7ff,      // Hangul
		r >= 0xf900 && r <= 0xfaff, r >= 0xff66 && r <= 0xffdc, // compatibility Han, half-width forms
		r >= 0x20000 && r <= 0x3ffff:
		return true
	}
	return false
}

// joinSize returns the size of the mark at s[i] if the word from start goes on behind it: the point of 3.14 and v2.1,
// the comma of 1,000 and 3,5, a soft hyphen or a joiner. Else it returns 0. A comma joins if three digits follow it, as
// between thousands, or one or two that end the number, as before decimals. In a list such as 1,2,3 it joins nothing.
func joinSize(s string, start, i, size int) int {
	switch c := s[i]; {
	case c == '.' && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1]):
		return 1
	case c == ',' && isDigit(s[i-1]) && allDigits(s[start:i]):
		n := countDigits(s, i+1)
		after := i + 1 + n
		last := after >= len(s) || s[after] != ',' && s[after] != '.' || after+1 >= len(s) || !isDigit(s[after+1])
		listed := start > 0 && s[start-1] == ','
		if n == 3 || n > 0 && n < 3 && last && !listed && isPlain(s[start:i]) {
			return 1
		}
	case c >= utf8.RuneSelf && i+size < len(s):
		r, _ := utf8.DecodeRuneInString(s[i:])
		if r == 0x00ad || r == 0x200c || r == 0x200d || r == 0x2060 {
			return size
		}
	}
	return 0
}

// apostropheSize returns the size of an apostrophe at s[i], or 0.
func apostropheSize(s string, i int) int {
	switch {
	case i < len(s) && s[i] == '\'':
		return 1
	case i+2 < len(s) && s[i] == 0xe2 && s[i+1] == 0x80 && (s[i+2] == 0x99 || s[i+2] == 0x98):
		return 3
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// countDigits counts the digits from s[i] on, up to four: more than three are no group.
func countDigits(s string, i int) int {
	n := 0
	for i+n < len(s) && n < 4 && isDigit(s[i+n]) {
		n++
	}
	return n
}

// allDigits reports whether s is a number so far. A number longer than 20 bytes is none, which also keeps scan linear.
func allDigits(s string) bool {
	if len(s) > 20 {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) && s[i] != ',' && s[i] != '.' {
			return false
		}
	}
	return true
}

// isPlain reports whether s has digits alone.
func isPlain(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return true
}
