// Package compare finds the differences between two answers to one question by their quotes: words of a document
// that changed, that are new, or that are gone. It is independent of the language, and all functions are pure.
//
// compare.go compares two answers, words.go aligns two sentences, value.go extracts the changed value of a
// difference. The input is quotes with hashes of the earlier sentences, and a function that reads current documents.
package compare

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// word is a token: a run of letters and digits, or a sign that changes their meaning.
type word struct {
	start, end int    // rune offsets
	form       string // NFKC, in lower case
	number     bool   // it has a digit
}

// words tokenises a text. A number with its separators is one word (1,000; 01.02.2026), and so is each letter of a
// script without spaces.
func words(text []rune) (list []word) {
	for at := 0; at < len(text); {
		end := wordEnd(text, at)
		if end == at {
			at++
			continue
		}
		piece := string(text[at:end])
		list = append(list, word{
			at, end, strings.ToLower(norm.NFKC.String(piece)), strings.ContainsFunc(piece, unicode.IsNumber),
		})
		at = end
	}
	return list
}

// wordEnd returns the end offset of the word at an offset, or the offset itself if no word starts there.
func wordEnd(text []rune, at int) int {
	r := text[at]
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
		return at + 1
	case unicode.IsSymbol(r), r == '%', r == '‰':
		return at + 1
	case (r == '-' || r == '−') && (at == 0 || unicode.IsSpace(text[at-1])) && isDigit(text, at+1):
		return at + 1
	case !unicode.IsLetter(r) && !unicode.IsNumber(r):
		return at
	}
	end := at + 1
	for end < len(text) {
		next := text[end]
		switch {
		case unicode.In(next, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			return end
		case unicode.IsLetter(next), unicode.IsNumber(next), unicode.IsMark(next), unicode.Is(unicode.Cf, next):
			end++
		case !unicode.IsSpace(next) && isDigit(text, end-1) && isDigit(text, end+1):
			end += 2
		default:
			return end
		}
	}
	return end
}

func isDigit(text []rune, at int) bool {
	return at >= 0 && at < len(text) && unicode.IsNumber(text[at])
}

// aligned is an alignment of two lists of words, with the words of their common subsequence.
type aligned struct {
	before, after []word
	keptB, keptA  []bool
	common        int // runes of the common words
	sizeB, sizeA  int // runes of all words
}

// maxAligned is the maximum number of words of a side, since the time grows with the product.
const maxAligned = 400

// align computes the longest common subsequence of two texts' words, weighted by the length of the words. It is the
// standard dynamic programming, filled from the ends, with a table of (n+1)·(m+1) numbers, some 160,000 at most.
// Longer texts are truncated to maxAligned words.
func align(before, after []rune) aligned {
	a := aligned{before: words(before), after: words(after)}
	a.before, a.after = a.before[:min(len(a.before), maxAligned)], a.after[:min(len(a.after), maxAligned)]
	a.keptB, a.keptA = make([]bool, len(a.before)), make([]bool, len(a.after))
	n, m := len(a.before), len(a.after)
	best := make([]int, (n+1)*(m+1))
	at := func(i, j int) int { return i*(m+1) + j }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best[at(i, j)] = max(best[at(i+1, j)], best[at(i, j+1)])
			if a.before[i].form == a.after[j].form {
				best[at(i, j)] = max(best[at(i, j)], best[at(i+1, j+1)]+weight(a.before[i]))
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case a.before[i].form == a.after[j].form && best[at(i, j)] == best[at(i+1, j+1)]+weight(a.before[i]):
			a.keptB[i], a.keptA[j] = true, true
			i, j = i+1, j+1
		case best[at(i, j)] == best[at(i+1, j)]:
			i++
		default:
			j++
		}
	}
	a.common = best[0]
	for _, w := range a.before {
		a.sizeB += weight(w)
	}
	for _, w := range a.after {
		a.sizeA += weight(w)
	}
	return a
}

// weight returns the length of a word in runes, so that long words count more.
func weight(w word) int { return utf8.RuneCountInString(w.form) }

// alike returns the similarity of both texts, 0–1: Dice's coefficient, weighted by length.
func (a aligned) alike() float64 {
	if a.sizeA+a.sizeB == 0 {
		return 0
	}
	return 2 * float64(a.common) / float64(a.sizeA+a.sizeB)
}

// same reports whether all words are equal.
func (a aligned) same() bool { return a.common == a.sizeA && a.common == a.sizeB }

// stretches returns the index ranges [from, to) of consecutive words that the other side lacks.
func stretches(kept []bool) (list [][2]int) {
	for i := 0; i < len(kept); i++ {
		if kept[i] {
			continue
		}
		from := i
		for i < len(kept) && !kept[i] {
			i++
		}
		list = append(list, [2]int{from, i})
	}
	return list
}

// marks converts ranges of words to rune ranges.
func marks(list []word, found [][2]int) [][2]int {
	ranges := make([][2]int, 0, len(found))
	for _, s := range found {
		ranges = append(ranges, [2]int{list[s[0]].start, list[s[1]-1].end})
	}
	return ranges
}
