package postgres

import (
	"strings"

	"footnote/corpus"
)

// grades are the weights of a term in a passage that the index tells apart: it has a mark for the term, with grade 1, and one
// for its grade if that is higher. Beyond 12, where a passage gains hardly more, a grade stands for the weights around it.
var grades = [...]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 20, 30}

func gradeOf(weight int) int {
	switch {
	case weight <= 12:
		return weight
	case weight <= 16:
		return 14
	case weight <= 24:
		return 20
	}
	return 30
}

// markOf makes the mark of a term with a grade: 64 bits of FNV-1a, stirred, so that no two terms of a library share one.
func markOf(term string, grade int) int64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	h = (h ^ uint64(grade)) * 1099511628211
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return int64(h)
}

// marksOf returns the marks of a passage.
func marksOf(terms corpus.Terms) []int64 {
	weights := make(map[string]int)
	for term := range strings.FieldsSeq(terms.Body) {
		weights[foldTerm(term)]++
	}
	for term := range strings.FieldsSeq(terms.Title) {
		weights[foldTerm(term)] += corpus.TitleWeight
	}
	delete(weights, "")
	marks := make([]int64, 0, len(weights)*3/2)
	for term, weight := range weights {
		marks = append(marks, markOf(term, 1))
		if weight > 1 {
			marks = append(marks, markOf(term, gradeOf(weight)))
		}
	}
	return marks
}

// indexedWords is what phrases are looked for in: body and title, every term between spaces. No phrase goes across the line
// break, since a term holds none.
func indexedWords(terms corpus.Terms) string {
	var words strings.Builder
	for _, part := range []string{terms.Body, terms.Title} {
		for term := range strings.FieldsSeq(part) {
			words.WriteByte(' ')
			words.WriteString(foldTerm(term))
		}
		words.WriteString(" \n")
	}
	return words.String()
}

// foldTerm folds ASCII capitals and nothing else, as the embedded mode's index does. A term that holds white space or
// controls is in no index: "".
func foldTerm(term string) string {
	if strings.ContainsFunc(term, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, term)
}
