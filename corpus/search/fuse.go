// Package search implements ranking: it fuses lexical and vector hits (Fuse), reranks the best of them (Look),
// calibrates cosines (Scale), extracts snippets (Snip) and corrects typos. Its functions are pure, access no store,
// and are safe for concurrent use; corpus calls them.
package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
)

// MeaningWeight is the weight of the vector score against the lexical score, 0–1. It is the middle of the best
// range, 0.3 to 0.4, for 110 questions over 42 documents: docs/quality.md.
const MeaningWeight = 0.35

// Fit holds the scores of a passage for a query. A passage found by only one search has 0 for the other, unless
// Unknown is set.
type Fit struct {
	ID      string
	Words   float64 // share of the query's words that it has: 1 for each of them once; 0: none
	Meaning float64 // semantic similarity, about 0–1: Scale.Nearness
	Unknown bool    // the passage has no vector yet
}

// Ranked is a passage with its fused score.
type Ranked struct {
	ID    string
	Score float64 // 0–1
}

// Fuse ranks passages by the weighted sum of their lexical and semantic scores. Both are normalised by the possible
// maximum, not by the best hit. So a search without good hits leaves the order to the other. This is the convex
// combination of Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 42, 2023,
// section 5. The weight of words is scaled by the square root of the best passage's share: if no passage has most
// words, the query is phrased differently, and chance matches mislead. (The share itself, its root and its square
// were tried: docs/quality.md.) The lexical score replaces an unknown semantic score. doubt lowers the weight of
// the semantic score (Scale.Doubt, 0–1). Ties are by smaller ID. If the best score exceeds 1, all scores are
// divided by it. The result is a new slice with all passages, best first.
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

// Weights of the reranking score.
const (
	// The first three add up to 1, so that a score stays within 0 to 1.
	weightWords    = 0.4 // the query's words in the passage, its heading and its document's title
	weightTogether = 0.3 // the query's words in one sentence
	weightRank     = 0.3 // the score of the search
	weightMeaning  = 0.6 // the cosine against all of these, if there are vectors
)

// Scorer reranks passages for one query. It is not safe for concurrent use. It parses the sentences of each passage,
// so use it only for the few passages that a search returns.
type Scorer struct {
	query string
	words []text.Word
	judge *support.Judge
}

// NewScorer returns a Look for a query. The language falls back to English if it can't be detected.
func NewScorer(query string) *Scorer {
	words := text.QueryWords(query, []string{cmp.Or(text.Detect(query), "en")})
	return &Scorer{query: query, words: words, judge: support.NewJudge()}
}

// Score returns how well a passage answers the query, 0–1; rank is the search's score.
func (l *Scorer) Score(passage, heading string, rank float64) float64 {
	_, _, together := l.judge.BestSentence(passage, l.query)
	return weightWords*ShareOfWords(l.words, passage, heading) + weightTogether*min(1, max(0, together)) +
		weightRank*rank
}

// WithMeaning adds the cosine similarity to a score. A passage without a cosine, among others that have one, counts
// as dissimilar. doubt lowers the weight of the cosine (Scale.Doubt, 0–1).
func WithMeaning(score float64, cosine *float64, doubt float64) float64 {
	near := 0.0
	if cosine != nil {
		near = min(1, max(0, *cosine))
	}
	meaning := weightMeaning * (1 - doubt)
	return meaning*near + (1-meaning)*score
}

// ShareOfWords returns the share of query words that occur in a passage or the heading above it, 0–1. A word counts
// once.
func ShareOfWords(words []text.Word, passage, heading string) float64 {
	if len(words) == 0 {
		return 0
	}
	lang := text.Detect(passage)
	terms := map[string]bool{}
	for _, t := range append(text.Terms(passage, lang), text.Terms(heading, lang)...) {
		terms[t] = true
	}
	held := 0
	for _, w := range words {
		if slices.ContainsFunc(w.Terms, func(t string) bool { return terms[t] }) {
			held++
		}
	}
	return float64(held) / float64(len(words))
}

// HasPhrases reports whether a text contains every phrase verbatim, ignoring case and diacritics. Stores match
// phrases by stems; this check compares the words as typed.
func HasPhrases(s string, phrases []string) bool {
	if len(phrases) == 0 {
		return true
	}
	terms := text.Terms(s, "")
	for _, p := range phrases {
		if !containsRun(terms, text.Terms(p, "")) {
			return false
		}
	}
	return true
}

// containsRun reports whether a list contains the terms of run in sequence; an empty run matches every list.
func containsRun(list, run []string) bool {
	for i := 0; i+len(run) <= len(list); i++ {
		if slices.Equal(list[i:i+len(run)], run) {
			return true
		}
	}
	return len(run) == 0
}
