package postgres

import (
	"strings"

	"footnote/corpus"
	"footnote/sql/bm25"
)

// levels are the weights of a term in a passage that the index tells apart: a passage has a mark for each level that a term
// reaches. BM25 hardly grows beyond the last.
var levels = [...]int{1, 2, 3, 4, 5, 6, 8, 12, 20}

// markOf makes the mark of a term that reaches a level: 64 bits of FNV-1a, stirred, so that no two terms of a library share one.
func markOf(term string, level int) int64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	h = (h ^ uint64(level)) * 1099511628211
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
		weights[foldTerm(term)] += bm25.TitleWeight
	}
	delete(weights, "")
	marks := make([]int64, 0, len(weights)*3/2)
	for term, weight := range weights {
		for _, level := range levels {
			if weight >= level {
				marks = append(marks, markOf(term, level))
			}
		}
	}
	return marks
}

// indexedWords is what phrases are looked for in: body and title, every term between spaces. No phrase goes across the line
// break, since a term holds none.
func indexedWords(terms corpus.Terms) string {
	var words strings.Builder
	for _, part := range []string{terms.Body, "\n", terms.Title} {
		words.WriteByte(' ')
		if part == "\n" {
			words.WriteString(part)
			continue
		}
		for term := range strings.FieldsSeq(part) {
			words.WriteString(foldTerm(term))
			words.WriteByte(' ')
		}
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
