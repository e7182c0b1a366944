// Package search computes what a search shows: it fuses the hits of words and of meaning (Fuse), looks again at the
// best of them (Look), says what a cosine means (Scale), cuts snippets (Snip) and finds what a mistyped word was meant
// to be. Its functions are pure, ask no store, and are safe for concurrent use; corpus calls them.
package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
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

// What the parts of a second look at a passage weigh.
const (
	// The first three add up to 1, so that a score stays within 0 to 1.
	weightWords    = 0.4 // the query's words in the passage, its heading and its document's title
	weightTogether = 0.3 // the query's words in one sentence
	weightRank     = 0.3 // what the search thought
	weightMeaning  = 0.6 // the cosine against all of these, where there are vectors
)

// Look is a closer look at passages with one query in mind. It may not be used by several goroutines. It is worth its
// time for the few passages that a search shows: it reads each one's sentences.
type Look struct {
	query string
	words []text.Word
	judge *support.Judge
}

// NewLook prepares a look. The query is taken for English where its language can't be told.
func NewLook(query string) *Look {
	words := text.QueryWords(query, []string{cmp.Or(text.Detect(query), "en")})
	return &Look{query: query, words: words, judge: support.NewJudge()}
}

// Score is how well a passage answers, 0–1; rank is the score that the search gave it.
func (l *Look) Score(passage, heading string, rank float64) float64 {
	_, _, together := l.judge.BestSentence(passage, l.query)
	return weightWords*ShareOfWords(l.words, passage, heading) + weightTogether*min(1, max(0, together)) +
		weightRank*rank
}

// WithMeaning adds to a score how near the passage is to the query in meaning. One without a cosine, beside others
// that have one, is far. doubt lowers the weight of meaning (Scale.Doubt, 0–1).
func WithMeaning(score float64, cosine *float64, doubt float64) float64 {
	near := 0.0
	if cosine != nil {
		near = min(1, max(0, *cosine))
	}
	meaning := weightMeaning * (1 - doubt)
	return meaning*near + (1-meaning)*score
}

// ShareOfWords is how much of a query stands in a passage or what stands over it, 0–1. A word counts once, however
// often it stands there.
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

// HasPhrases reports whether a text holds every phrase word for word, case and diacritics apart. Stores find phrases by
// stems; here words must be those that were typed, but for case and diacritics.
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

// containsRun reports whether a list holds a run of terms one behind the other; an empty run is in each list.
func containsRun(list, run []string) bool {
	for i := 0; i+len(run) <= len(list); i++ {
		if slices.Equal(list[i:i+len(run)], run) {
			return true
		}
	}
	return len(run) == 0
}
