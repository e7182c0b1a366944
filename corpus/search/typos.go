package search

import (
	"strings"
	"unicode/utf8"
)

// Correctable reports whether a word can be a typing error of another: long enough, and of letters only. Every word of
// three letters is one error away from many others.
func Correctable(w string) bool {
	return utf8.RuneCountInString(w) >= 4 && !strings.ContainsAny(w, "0123456789_.")
}

// Forms returns a word with and without the last letters, which may be another ending than the typed word's. A stemmed
// index has words without their endings.
func Forms(word string) []string {
	out := []string{word}
	for r := []rune(word); len(r) > 5 && len(out) < 3; {
		r = r[:len(r)-1]
		out = append(out, string(r))
	}
	return out
}

// Typos counts the letters added, left out, replaced or swapped between two words; it gives up beyond limit. That is
// the optimal string alignment distance: a swap of neighbours counts as one.
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
