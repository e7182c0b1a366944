package pdf

import (
	"strings"
	"unicode"
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
			}
			cut = l.hyphen
		}
	}
	v := make(vocabulary, len(counts))
	for w, n := range counts {
		v[plainWord(w)] += n
	}
	return v
}

// plainWord returns a word in lower case, without the punctuation around it.
func plainWord(s string) string {
	return strings.ToLower(strings.TrimFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}))
}

// keepsHyphen reports whether the hyphen between the parts of a word at a line's end belongs to it: the word has it
// elsewhere, or the joined word is unknown and both parts are words.
func (v vocabulary) keepsHyphen(a, b string) bool {
	a, b = plainWord(a), plainWord(b)
	switch {
	case v[a+b] > 0:
		return false
	case v[a+"-"+b] > 0:
		return true
	}
	return v[a] > 0 && v[b] > 0
}
