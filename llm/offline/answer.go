package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"footnote/corpus/text"
)

const (
	nearTop = 0.55 // a further sentence has at least this share of the best one's score
	// of the question's weight a further sentence must hold, with what stands around it, unless many are asked for
	furtherNeeded = 0.5
	sameWords     = 0.7  // sentences with this share of words in common say the same
	rowWorth      = 0.8  // a row of a table reads worse than a sentence
	contentsWorth = 0.1  // a line of a table of contents only names what is said elsewhere
	contextWorth  = 0.35 // a word in the heading or the sentence before, against one in the sentence itself
)

// reply is an answer, or that there is none.
type reply struct {
	text      string
	supported bool
	half      bool   // only one of the two questions that this one is was answered
	missing   string // one of two things that the question compares, when only the other was found
}

// candidate is a sentence with its worth.
type candidate struct {
	sentence
	score   float64
	has     []float64 // of each word of the question, 0–1
	near    []float64 // the same for its headings and its document's name
	before  []float64 // the same for the sentence before
	passage []float64 // the same for all of its passage
	lean    float64   // what the sentence before counts
}

// compose chooses the sentences that answer the question from everything that was shown. Of a question that may be
// two, those that answer only the first are none.
func compose(t turn, q query, two []hop) reply {
	sources := t.shown()
	if len(sources) == 0 {
		return reply{}
	}
	p := pileOf(sources)
	demand := demanded(t.question)
	words := weigh(q, p, demand, t.question)
	want := expects(t.question)
	cands := make([]candidate, 0, len(p.sentences))
	for i := range p.sentences {
		cands = append(cands, rate(p, i, words, want, t.question))
	}
	halves := compared(t.question, words)
	both, missing := each(halves, cands, words, want, t.question)
	if missing != "" {
		return reply{missing: missing}
	}
	ranked := slices.Clone(cands)
	slices.SortStableFunc(ranked, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	picked := chosen(ranked, words, p, want, demand, t.question)
	if len(both) == 2 && !covers(picked, both) && supports(both, withoutComparatives(words), p, demand, t.question) {
		picked = both
	}
	if len(picked) == 0 {
		return reply{}
	}
	if halfway(two, picked, words, p) {
		return reply{half: true}
	}
	if demand.reason {
		picked = withReason(picked, cands)
	}
	return reply{text: write(arrange(picked, cands, want), sources), supported: true}
}

// chosen takes the best sentence that supports an answer by itself, and what goes with it: beside a figure, only what
// holds another word of the question. A question with several parts may be answered by sentences that only do so
// together.
func chosen(ranked []candidate, words []word, p pile, want expected, demand demand, question string) []candidate {
	parts := several().MatchString(question)
	if parts {
		if picked := pick(ranked, 0, words, want, true); supports(picked, words, p, demand, question) {
			return picked
		}
	}
	first := slices.IndexFunc(ranked, func(c candidate) bool {
		return c.score > 0 && supports([]candidate{c}, words, p, demand, question)
	})
	if first < 0 {
		return nil
	}
	if parts || want.many || !demand.figure {
		return pick(ranked, first, words, want, parts)
	}
	facts := []candidate{ranked[first]}
	for i, c := range ranked {
		if i != first && c.score > 0 && bringsNew(c, facts, words) {
			facts = append(facts, c)
		}
	}
	return pick(facts, 0, words, want, false)
}

// withReason adds the sentence after the best one if it gives the reason that none so far gives.
func withReason(picked, all []candidate) []candidate {
	if slices.ContainsFunc(picked, func(c candidate) bool { return givesReason().MatchString(c.text) }) {
		return picked
	}
	for _, c := range all {
		if c.source == picked[0].source && c.place == picked[0].place+1 && givesReason().MatchString(c.text) &&
			sayable(c.text) {
			return append(picked, c)
		}
	}
	return picked
}

// rate scores one sentence.
func rate(p pile, i int, words []word, want expected, question string) candidate {
	s := p.sentences[i]
	n := len(words)
	cells := make([]float64, 4*n)
	c := candidate{
		sentence: s, has: cells[:n], near: cells[n : 2*n], before: cells[2*n : 3*n], passage: cells[3*n:], lean: before,
	}
	var last map[string]bool
	lastWorth := contextWorth
	if i > 0 && p.sentences[i-1].source == s.source {
		prev := p.sentences[i-1]
		last = prev.terms
		if prev.heading || strings.HasSuffix(prev.text, "?") {
			lastWorth = 0.7 // it names what this sentence is about
		}
		if lastWorth == 0.7 || strings.HasSuffix(prev.text, ":") || leansBack().MatchString(s.text) {
			c.lean = leanedOn
		}
	}
	own, context := 0.0, 0.0
	for k, w := range words {
		c.has[k], c.near[k], c.before[k], c.passage[k] = w.in(s.terms), w.in(p.around[s.source]), w.in(
			last,
		), w.in(p.inside[s.source])
		own += c.has[k]
		context += c.before[k]
		c.score += w.weight * max(c.has[k], contextWorth*c.near[k], lastWorth*c.before[k])
	}
	follows := lastWorth == 0.7 || context > 0 && want.form != nil && want.form().MatchString(s.text)
	switch {
	case s.heading, !sayable(s.text), own == 0 && !follows:
		c.score = 0
		return c
	case strings.HasSuffix(s.text, "?"), strings.HasSuffix(s.text, ":") && !want.many:
		c.score *= 0.4
	}
	if strings.Contains(s.text, " | ") {
		c.score *= rowWorth
	}
	if text.Leader(s.text) {
		c.score *= contentsWorth
	}
	c.score *= want.fit(s.text, question)
	c.score /= 1 + 0.12*math.Log1p(float64(utf8.RuneCountInString(s.text))/60)
	return c
}

// pick takes a sentence and further ones that are nearly as good and say something else. parts is set when the
// question has several, which different sentences may answer.
func pick(ranked []candidate, first int, words []word, want expected, parts bool) []candidate {
	if len(ranked) == 0 || ranked[first].score <= 0 {
		return nil
	}
	picked := []candidate{ranked[first]}
	most := 3
	if want.many {
		most = 5
	}
	for i, c := range ranked {
		if len(picked) == most || c.score <= 0 {
			break
		}
		if i == first {
			continue
		}
		floor := nearTop
		if bringsNew(c, picked, words) {
			floor -= 0.2
		} else if want.exact {
			floor += 0.25
		}
		if !want.many && !parts && c.share(words) < furtherNeeded {
			continue
		}
		if c.score >= floor*ranked[first].score && !saysSame(c, picked) {
			picked = append(picked, c)
		}
	}
	return picked
}

// bringsNew reports whether a sentence holds a word of the question itself that none so far holds, nor its heading.
func bringsNew(c candidate, picked []candidate, words []word) bool {
	for k, has := range c.has {
		if has > 0 && !words[k].borrowed &&
			!slices.ContainsFunc(picked, func(p candidate) bool { return p.has[k] > 0 || p.near[k] > 0 }) {
			return true
		}
	}
	return false
}

func saysSame(c candidate, picked []candidate) bool {
	for _, p := range picked {
		if strings.Contains(p.text, c.text) || strings.Contains(c.text, p.text) {
			return true
		}
		both := 0
		for term := range c.terms {
			if p.terms[term] {
				both++
			}
		}
		if float64(both) >= sameWords*float64(min(len(c.terms), len(p.terms))) && len(c.terms) > 2 {
			return true
		}
	}
	return false
}
