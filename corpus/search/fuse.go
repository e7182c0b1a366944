// Package search computes what a search shows: it fuses the hits of words and of meaning (Fuse), looks again at the
// best of them (Look), says what a cosine means (Scale), cuts snippets (Snip) and finds what a mistyped word was meant
// to be. Its functions are pure, ask no store, and are safe for concurrent use; corpus calls them.
package search

import (
	"cmp"
	"math"
	"slices"
)

// MeaningWeight is the weight of meaning beside words, 0–1. It is the middle of what was best for 110 questions over 42
// documents, from 0.3 to 0.4: docs/quality.md.
const MeaningWeight = 0.35

// A Fit is how well a passage fits a query. A passage that only one of both searches found has 0 for the other, unless
// Unknown says why.
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
// Retrieval", ACM TOIS 42, 2023, section 5). Beside meaning, words count less the fewer of them the best passage has,
// by the root of its share: a query of which no passage has most words was put in others, and those that are there by
// chance mislead. (The share itself, its root and its square were tried: docs/quality.md.) A passage whose meaning is
// not known is taken to mean what its words say. doubt lowers the weight of meaning (Scale.Doubt, 0–1). Ties go to the
// smaller id. Where the best has more than each word once, scores are shares of its own. The result has all passages,
// best first, in a new slice.
func Fuse(fits []Fit, doubt float64) []Ranked {
	meaning := MeaningWeight * (1 - doubt)
	byWords := 0.0
	for _, f := range fits {
		byWords = max(byWords, f.Words)
	}
	if byWords = math.Sqrt(min(1, byWords)); !slices.ContainsFunc(fits, func(f Fit) bool { return !f.Unknown }) {
		byWords = 1
	}
	out := make([]Ranked, len(fits))
	for i, f := range fits {
		if f.Unknown {
			f.Meaning = f.Words
		}
		out[i] = Ranked{f.ID, (1-meaning)*byWords*f.Words + meaning*f.Meaning}
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
