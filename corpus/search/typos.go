package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Correctable reports whether a word can be a typo: at least four letters and no digits. Shorter words are one edit
// away from many others.
func Correctable(w string) bool {
	return utf8.RuneCountInString(w) >= 4 && !strings.ContainsAny(w, "0123456789_.")
}

// Forms returns a word with and without its last letters, since a stemmed index has words without endings.
func Forms(word string) []string {
	out := []string{word}
	for r := []rune(word); len(r) > 5 && len(out) < 3; {
		r = r[:len(r)-1]
		out = append(out, string(r))
	}
	return out
}

// Edit costs. A slip keeps the letters of a word. A letter added, omitted or replaced by the adjacent key makes
// other words of many short ones, and a letter from elsewhere on the keyboard most often.
const (
	slipCost     = 1 // adjacent letters swapped, a letter doubled or not
	oneKeyCost   = 2 // a letter omitted, added, or typed on the adjacent key
	replacedCost = 3

	mostErrors = 2 // more edits mean another word
)

// editCost returns the minimum cost of the edits between two folded words.
func editCost(typed, word string) int {
	x, y := []rune(typed), []rune(word)
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range y {
		last[j+1] = last[j] + addedCost(y, j)
	}
	for i := range x {
		row[0] = last[0] + addedCost(x, i)
		for j := range y {
			d := last[j]
			switch {
			case x[i] == y[j]:
			case onNextKey(x[i], y[j]):
				d += oneKeyCost
			default:
				d += replacedCost
			}
			d = min(d, last[j+1]+addedCost(x, i), row[j]+addedCost(y, j))
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, before[j-1]+slipCost)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}

// addedCost returns the cost of the i-th letter of a word if the other word lacks it.
func addedCost(word []rune, i int) int {
	if i > 0 && word[i-1] == word[i] {
		return slipCost
	}
	return oneKeyCost
}

// keyboards are the rows of letters, each offset by about half a key to the right of the row above. Letters that
// German and French keyboards have elsewhere are at their English positions.
var keyboards = [][]string{
	{"qwertyuiop", "asdfghjkl", "zxcvbnm"},
	{"йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю"},
}

// onNextKey reports whether two letters are adjacent on a keyboard.
func onNextKey(a, b rune) bool {
	for _, rows := range keyboards {
		for i, row := range rows {
			keys := []rune(row)
			at := slices.Index(keys, a)
			if at < 0 {
				continue
			}
			if beside := slices.Index(keys, b); beside >= 0 {
				return beside == at-1 || beside == at+1
			}
			if i > 0 {
				if above := slices.Index([]rune(rows[i-1]), b); above >= 0 {
					return above == at || above == at+1
				}
			}
			if i+1 < len(rows) {
				below := slices.Index([]rune(rows[i+1]), b)
				return below >= 0 && (below == at || below == at-1)
			}
		}
	}
	return false
}

// Certainty is the certainty that one word is a typo of another.
type Certainty int

// The degrees of certainty.
const (
	NotMeant   Certainty = iota
	MaybeMeant           // only in passages with another word of the query
	SurelyMeant
)

// TypoOf reports whether a typed word is a typo of another, both folded, and returns the edit cost. Longer words
// may have more errors. By the length of the shorter one, a slip is allowed up to five letters, a replaced letter
// from six, and also one letter more or less, as in “elefant”, from seven.
func TypoOf(typed, word string) (sure Certainty, cost int) {
	if Typos(typed, word, mostErrors) > mostErrors {
		return NotMeant, 0
	}
	most := slipCost
	switch letters := min(utf8.RuneCountInString(typed), utf8.RuneCountInString(word)); {
	case letters >= 7:
		most = replacedCost + oneKeyCost
	case letters == 6:
		most = replacedCost
	}
	switch cost = editCost(typed, word); {
	case cost <= most:
		return SurelyMeant, cost
	case cost <= oneKeyCost:
		return MaybeMeant, cost
	default:
		return NotMeant, cost
	}
}

// Typos returns the optimal string alignment distance of two words, in which a swap of adjacent letters counts as
// one edit; it stops beyond limit.
func Typos(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > limit || len(y)-len(x) > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row[0] = i + 1
		for j := range y {
			d := last[j]
			if x[i] != y[j] {
				d++
			}
			d = min(d, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return last[len(y)]
}
