package pdf

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// vocabulary counts the words of a document. It decides about what its letters leave open. The zero value is empty.
type vocabulary map[string]int

// vocabularyOf returns the words of a document where one is cut at the end of a line, or set apart. The parts of cut
// words are no words.
func vocabularyOf(sheets []sheet, needed func(l *line) bool) vocabulary {
	open := false
	for i := range sheets {
		for j := range sheets[i].lines {
			open = open || needed(&sheets[i].lines[j])
		}
	}
	if !open {
		return nil
	}
	counts := map[string]int{} // of words as they are written
	cut := false
	for i := range sheets {
		for j := range sheets[i].lines {
			l := &sheets[i].lines[j]
			for k, w := range l.words {
				if k == 0 && cut || k+1 == len(l.words) && l.hyphen || w.glued {
					continue
				}
				counts[w.text]++
				if k+1 < len(l.words) && strings.HasSuffix(w.text, "-") {
					counts[suspended+l.words[k+1].text]++
				}
			}
			cut = l.hyphen
		}
	}
	v := make(vocabulary, len(counts))
	for w, n := range counts {
		if !strings.HasPrefix(w, suspended) {
			w = plainWord(w)
		}
		v[w] += n
	}
	return v
}

// endsOpen reports whether a line ends with a hyphen.
func (l *line) endsOpen() bool {
	return l.hyphen || strings.HasSuffix(l.words[len(l.words)-1].text, "-")
}

// plainWord returns a word in lower case, without the punctuation around it.
func plainWord(s string) string {
	return strings.ToLower(strings.TrimFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}))
}

// joint returns what is between the last word of a line and the next line: a hyphen that PDFium took from its end, and
// a space. A word of letters is joined if the next line begins in lower case, unless it is a compound of known words.
func (v vocabulary) joint(a, b *line) (dash, space bool) {
	end, begin := a.words[len(a.words)-1].text, b.words[0].text
	last, size := utf8.DecodeLastRuneInString(end)
	next, _ := utf8.DecodeRuneInString(begin)
	if !a.hyphen {
		before, _ := utf8.DecodeLastRuneInString(end[:len(end)-size])
		if unicode.Is(unicode.Pd, last) && unicode.IsDigit(before) { // a range, or the number of a compound
			return false, !unicode.IsDigit(next) && (last != '-' || !unicode.IsLetter(next) || v.suspends(end, b))
		}
		return false, !isUnspaced(last) || !isUnspaced(next)
	}
	switch {
	case isUnspaced(next):
		return false, false
	case !unicode.IsLetter(last) || !unicode.IsLower(next):
		return true, false
	case v.suspends(end, b):
		return true, true
	}
	return v.keepsHyphen(end, begin), false
}

// suspended marks words that follow one with a hyphen in the same line, as in “vracht- en verzendkosten”.
const suspended = "- "

// suspends reports whether a hyphen replaces the second part of a word, as in “short- and medium-term”: the short word
// after it follows a hyphen elsewhere too, or a compound follows that word.
func (v vocabulary) suspends(a string, next *line) bool {
	short := next.words[0].text
	switch {
	case v[plainWord(a)+plainWord(short)] > 0:
		return false
	case v[suspended+short] > 0:
		return true
	}
	return len(next.words) > 1 && len(short) <= maxLink && v[short] > 0 &&
		strings.Contains(strings.Trim(next.words[1].text, "-"), "-")
}

// maxLink is the length in bytes of the longest word that links the parts of two compounds.
const maxLink = 4

// keepsHyphen reports whether the hyphen between the parts of a word at a line's end belongs to it: the word has it
// elsewhere, or the joined word is unknown and the parts beside the hyphen are words, of which the first may be known
// from a longer compound only. Only letters are cut: an address has its own hyphens.
func (v vocabulary) keepsHyphen(a, b string) bool {
	a, b = plainWord(a), plainWord(b)
	left, right := a[strings.LastIndexByte(a, '-')+1:], b
	if i := strings.IndexByte(b, '-'); i >= 0 {
		right = b[:i]
	}
	switch {
	case v[a+b] > 0 || v[left+right] > 0:
		return false
	case v[a+"-"+b] > 0 || strings.ContainsFunc(a, unicode.IsDigit) || isAddress(a) || isAddress(b):
		return true
	}
	return v[right] > 0 && (v[left] > 0 || left != a)
}

// isAddress reports whether a word has the marks of an address or of a file's name inside.
func isAddress(s string) bool {
	i := strings.IndexAny(s, "@_.")
	return i >= 0 && i+1 < len(s) && (s[i] != '.' || unicode.IsLetter(rune(s[i+1])))
}
