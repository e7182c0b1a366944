package search

import (
	"cmp"
	"slices"

	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
)

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
