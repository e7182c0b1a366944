package bm25

import "math"

// BM25's parameters, and the weight of a term in the title relative to the body.
const (
	k1          = 1.2
	b           = 0.75
	TitleWeight = 2
)

// TermFrequencyScore returns the BM25 score of one term in a passage, without IDF:
//
//	w·(k1+1) / (w + k1·(1 − b + b·length/average))
//
// with k1 = 1.2 and b = 0.75 (Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
// section 3.4). weight is the term frequency, plus TitleWeight for each occurrence in the title. length is the
// passage's number of terms and average that of all passages, both including the title. A passage's score is the sum
// of TermFrequencyScore × IDF over the query's terms.
func TermFrequencyScore(weight, length, average float64) float64 {
	return weight * (k1 + 1) / (weight + k1*(1-b+b*length/average))
}

// IDF returns a term's inverse document frequency in BM25: ln(1 + (N − n + ½)/(n + ½)) with N passages, n of them
// with the term. Unlike the original formula, it is never negative.
func IDF(passages, found int) float64 {
	n := float64(min(found, passages))
	return math.Log(1 + (float64(passages)-n+0.5)/(n+0.5))
}
