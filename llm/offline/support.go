package offline

import (
	"slices"
)

// What a word counts that a sentence does not hold itself.
const (
	supportNeeded = 0.63 // the share of the question's weight that a sentence must hold with what stands around it
	inHeading     = 0.9  // in its headings or its document's name
	leanedOn      = 0.8  // in the sentence before, which it continues or answers
	before        = 0.55 // in the sentence before
	inPassage     = 0.4
	unheardOf     = 1.25 // a word that stands nowhere in what was read of the document weighs that much more
	lentInPassage = 0.8  // the same, of what a follow-up question points back to
)

// several finds questions whose parts may be answered by sentences that have nothing in common.
var several = lazily(
	`(?i),? (?:and|or|und|oder|et|ou|y|o)\b|[;、]|\b(?:compare|versus|vs|difference|vergleiche?|compare[rz]?)\b|\?.*\?`,
)

// held returns how well a sentence holds each word, with what stands around it.
func (c candidate) held(k int, w word) float64 {
	best := max(c.has[k], inHeading*c.near[k], c.lean*c.before[k])
	if w.borrowed {
		return max(best, c.near[k], lentInPassage*c.passage[k])
	}
	if w.name {
		return best
	}
	return max(best, inPassage*c.passage[k])
}

// share is how much of the question's weight a sentence holds with what stands around it, 0–1.
func (c candidate) share(words []word) float64 {
	var held, asked float64
	for k, w := range words {
		held += w.need * c.held(k, w)
		asked += w.need
	}
	if asked == 0 {
		return 0
	}
	return held / asked
}

// supports reports whether sentences hold enough of the question: every name in it, most of the weight of its other
// words, at least one of them in a sentence itself, and what is demanded. The rarer a word, the more it counts: a
// word that stands nowhere in what was read is hardly ever made up for.
func supports(cands []candidate, words []word, p pile, want demand, question string) bool {
	var held, asked, inside float64
	for k, w := range words {
		best := 0.0
		for _, c := range cands {
			inside += c.has[k]
			best = max(best, c.held(k, w))
		}
		if w.name && best == 0 {
			return false
		}
		held += w.need * best
		if best == 0 && !slices.ContainsFunc(cands, func(c candidate) bool { return w.in(p.document[c.source]) > 0 }) {
			asked += w.need * unheardOf
		} else {
			asked += w.need
		}
	}
	if asked == 0 || inside == 0 && held < 0.85*asked || held < supportNeeded*asked {
		return false
	}
	for _, c := range cands {
		if want.met(c.text, question) && countsAsked(c, words, p, want) && anchored(c, words, want) {
			return true
		}
	}
	return false
}

// countsAsked reports whether a sentence says how many there are of what is counted.
func countsAsked(c candidate, words []word, p pile, want demand) bool {
	if want.counted == "" {
		return true
	}
	for k, w := range words {
		if w.typed != want.counted || w.light || w.borrowed {
			continue
		}
		if c.has[k] > 0 {
			return counts(c.text, w, p.analysers[c.source])
		}
		around := c.near[k]
		if c.lean == leanedOn {
			around = max(around, c.before[k])
		}
		return around > synonymWorth // what stands around it names just this
	}
	return true
}
