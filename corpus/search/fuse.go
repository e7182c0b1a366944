// Package search computes what a search shows: it fuses the hits of words and of meaning (Fuse), looks again at the
// best of them (Look), says what a cosine means (Scale), cuts snippets (Snip) and finds what a mistyped word was meant
// to be. Its functions are pure, ask no store, and are safe for concurrent use; corpus calls them.
package search

import (
	"cmp"
	"slices"
)

// MeaningWeight is what meaning counts for beside words, 0–1. It is the middle of what was best for 110 questions over
// 42 documents, from 0.3 to 0.4: docs/quality.md.
const MeaningWeight = 0.35

// A Fit is how well a passage fits a query.
type Fit struct {
	ID      string
	Words   float64 // the share of the query's words that it has: 1 for each of them once; 0: none
	Meaning float64 // how near its meaning is, about 0–1: Scale.Nearness
	Unknown bool    // its meaning is not known yet
}

// Ranked is a passage with its rank over both.
type Ranked struct {
	ID    string
	Score float64 // 0–1
}

// Fuse ranks passages by a weighted sum of how well they fit by words and by meaning. Both are measured against what is
// possible, not against the best that was found: so words that fit nothing well leave the order to the meaning, and the
// other way round (the convex combination of Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
// Retrieval", ACM TOIS 42, 2023, section 5). A passage whose meaning is not known fits by words alone. Ties go to the
// smaller id. Where the best has more than each word once, scores are shares of its own.
func Fuse(fits []Fit) []Ranked {
	out := make([]Ranked, len(fits))
	for i, f := range fits {
		score := (1-MeaningWeight)*f.Words + MeaningWeight*f.Meaning
		if f.Unknown {
			score = f.Words
		}
		out[i] = Ranked{f.ID, score}
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
	})
	if len(out) > 0 && out[0].Score > 1 {
		for i, best := 0, out[0].Score; i < len(out); i++ {
			out[i].Score /= best
		}
	}
	return out
}
