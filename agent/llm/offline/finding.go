package offline

import (
	"context"
	"slices"
	"strings"
)

// finding is an answer's headline about its quotes. Users read the texts; the agent gets the same as llm.Found.
type finding string

// The findings.
const (
	answers finding = "Found in your documents:"
	closest finding = "Closest passages, which may not answer this:"
	none    finding = ""
)

// inGiven replaces answers for a text that came with the question.
const inGiven = "Found in the given text:"

// answer is a set of quotes with the probability that they answer.
type answer struct {
	finding finding
	sure    float64 // 0–1
	text    string
	pile    pool
	words   []word
	quotes  []quote
	label   bool // the first quote is a row of two cells, one of which the question names
}

// compose selects the quotes that answer a question from the search results and readings. The steps are: pool,
// languages, topic, weights of words (which need the pool), scores, selection, probability. It returns an error only
// if ctx is cancelled during the comparison of embeddings.
func compose(ctx context.Context, t turn, similar Similarity, read Reader) (answer, error) {
	p := newPool(t.shown())
	p.compareLanguages(t.question)
	q := topicOf(t)
	words := q.weigh(p)
	units, compared, err := rate(ctx, p, q, words, similar)
	if err != nil {
		return answer{}, err
	}
	a := answer{pile: p, words: words, quotes: choose(p, units, words)}
	if len(a.quotes) == 0 {
		return a, nil
	}
	a.sure = sureness(signsOf(units, words, a.quotes), compared)
	// The higher probability of both readings: with the words of the previous question, and without.
	if q.names { // it may belong to the previous question or not
		a.sure = max(a.sure, sureness(signsOf(units, ownOf(words), a.quotes), compared))
	}
	if a, err = a.read(ctx, q.asked(), read); err != nil {
		return answer{}, err
	}
	if a.lacksNumber() {
		a.sure = min(a.sure, mostUnsure)
	}
	if at, ok := p.labelled(t.question, words); ok && !q.names {
		u := p.units[at]
		best := quote{source: u.source, start: u.start, end: u.end, first: at, last: at, score: 1,
			best: scored{unit: u, at: at, has: make([]float64, len(words))}}
		a.quotes, a.label, a.sure = []quote{best}, true, max(a.sure, sureLabel)
	}
	if t.canCheck() { // then the check decides whether they are shown
		a.sure = max(a.sure, leastShown)
	}
	return a.rendered(t, leastFound, leastShown), nil
}

// rendered determines the finding by the probability and renders the answer. found is the minimum for “found”, and
// shown for “closest”.
func (a answer) rendered(t turn, found, shown float64) answer {
	switch {
	case a.sure >= found:
		a.finding = answers
	case a.sure >= shown:
		a.finding = closest
	default:
		a.finding, a.quotes = none, nil
		return a
	}
	said := string(a.finding)
	if a.finding == answers && (len(t.given()) > 0 || a.pile.sources[a.quotes[0].source].N == 0) {
		said = inGiven
	}
	blocks := append([]string{a.pile.headline(said, a.quotes, a.words)}, a.pile.blocks(a.quotes, a.words)...)
	a.text = strings.Join(blocks, "\n\n")
	return a
}

// The minimum probabilities of quotes to be called found, and to be shown at all.
const (
	leastFound = 0.54
	// mostUnsure is the maximum probability of an answer that must not be called found.
	mostUnsure = leastFound - 0.01
	leastShown = 0.29
)

// lacksNumber reports whether the question names a number, a year or a version that no quoted passage has. Its section
// and the names of its document count.
func (a answer) lacksNumber() bool {
	return slices.ContainsFunc(a.words, func(w word) bool {
		return !w.borrowed && strings.ContainsAny(w.typed, "0123456789") &&
			!slices.ContainsFunc(a.quotes, func(q quote) bool { return a.pile.says(q.source, w) })
	})
}

// says reports whether a passage has a word.
func (p pool) says(source int, w word) bool {
	return w.in(p.around[source]) > 0 ||
		slices.ContainsFunc(p.units, func(u unit) bool { return u.source == source && w.in(u.terms) > 0 })
}

// sureLabel is the probability that a row answers which the question names by one of its two cells.
const sureLabel = 0.8

// signs are the features that predict whether quotes answer, each 0–1 (docs/decisions/offline.md).
type signs struct {
	meaning float64 // the highest cosine of the first units
	known   float64 // share of the question's words that any result has
	best    float64 // share of the question's weight that one quote has, with its headings
	lack    float64 // share of the weight of the heaviest word that this quote lacks
}

// signsOf computes the signs from the first units and the selected quotes.
func signsOf(units []scored, words []word, quotes []quote) signs {
	s := signs{}
	for _, u := range units[:min(len(units), mostQuotes)] {
		s.meaning = max(s.meaning, u.features.meaning)
	}
	all := total(words)
	if all == 0 {
		return s
	}
	for _, w := range words {
		if len(w.terms) > 0 {
			s.known += 1 / float64(len(words))
		}
	}
	for _, q := range quotes {
		held, lack := 0.0, 0.0
		for k, w := range words {
			has := 0.0
			for _, u := range units {
				if u.at >= q.first && u.at <= q.last {
					has = max(has, u.has[k])
				}
			}
			held += w.weight * has / all
			if !w.borrowed {
				lack = max(lack, w.weight*(1-has)/all)
			}
		}
		if held > s.best {
			s.best, s.lack = held, lack
		}
	}
	return s
}

// sureness returns the probability that quotes with such signs answer. Both logistic regressions were fitted to the
// questions of cmd/footnote/testdata/questions and cmd/footnote/eval/judge/questions.tsv. Their coefficients are
// multiplied by 0.4, since on other questions they were too certain: docs/quality.md, “Reader”.
func sureness(s signs, compared bool) float64 {
	z := -1.36 + 1.00*s.known + 1.18*s.best - 0.69*s.lack
	if compared {
		z = -2.24 + 1.60*s.meaning + 0.91*s.known + 1.05*s.best
		if s.lack >= s.best { // a model that does not know the language finds all its texts similar
			z = min(z, 0)
		}
	}
	return logistic(z)
}
