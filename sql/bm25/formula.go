package bm25

import "math"

// BM25's constants, and how many times a term in the title counts one in the body.
const (
	k1          = 1.2
	b           = 0.75
	TitleWeight = 2
)

// TermFrequencyScore is a passage's part of BM25 for one term:
//
//	w·(k1+1) / (w + k1·(1 − b + b·length/average))
//
// with k1 = 1.2 and b = 0.75 (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
// section 3.4). weight is how often the term occurs, TitleWeight for each time in the title; length is the passage's
// number of terms and average that of all passages, both with the title's. The score of a passage is the sum of
// TermFrequencyScore × IDF over the query's terms.
func TermFrequencyScore(weight, length, average float64) float64 {
	return weight * (k1 + 1) / (weight + k1*(1-b+b*length/average))
}

// IDF is a term's part of BM25, its inverse document frequency: ln(1 + (N − n + ½)/(n + ½)) with N passages of which n
// hold the term. Unlike the original, it is never negative.
func IDF(passages, found int) float64 {
	n := float64(min(found, passages))
	return math.Log(1 + (float64(passages)-n+0.5)/(n+0.5))
}
