package support

import (
	"slices"
)

// MetaWords are words with which answers speak of documents. They need no passage.
const MetaWords = " source text say page section chapter document file according state mention describe list note " +
	"report explain specify indicate provide total together sum altogether "

// sentence is what a claim is read against: a sentence of a passage, behind the one before where it begins with a
// pronoun and so speaks of the same; a row of a table behind the head.
type sentence struct {
	n       int // which one
	tokens  []token
	parts   []part
	negated []bool // by segment
	first   int    // the first part that is its own
	row     bool
}

// sentenceAt returns the sentence whose phrase is the i-th of a passage.
func (p *judged) sentenceAt(i int) sentence {
	own := p.phrases[i]
	s := sentence{n: i, row: own.row}
	if i > 0 && own.leans && !p.phrases[i-1].row {
		s.joinPhrase(p.phrases[i-1])
		s.first = len(s.parts)
	} else if head := p.heads[i]; head >= 0 && head < i {
		s.joinPhrase(p.phrases[head])
	}
	s.joinPhrase(own)
	return s
}

// joinPhrase appends a phrase: it puts the one before a sentence's own: its parts, chunks and segments go on counting,
// so that words of both can be told apart.
func (s *sentence) joinPhrase(p phrase) {
	parts, chunks, segments := len(s.parts), 0, len(s.negated)
	if n := len(s.tokens); n > 0 {
		chunks = s.tokens[n-1].chunk + 1
	}
	for _, t := range p.tokens {
		if !t.relation {
			t.part += parts
			t.chunk += chunks
			t.segment += segments
			s.tokens = append(s.tokens, t)
		}
	}
	s.parts, s.negated = append(s.parts, p.parts...), append(s.negated, p.negated...)
}

// isStated reports whether passages say each part of a claim in its own words: a part is taken from one sentence, with
// words left out, moved with their preposition, or turned from active to passive, but with no word added or replaced,
// and with what negates, limits and relates it. byRow says that a row of a table holds a part, whose words have no
// order.
func (p *phrase) isStated(known, talk termSet, has []*judged) (ok, byRow bool) {
	before := -1
	for n := range p.parts {
		var said []token
		for _, t := range p.tokens {
			if t.part == n && !t.relation {
				said = append(said, t)
			}
		}
		if len(said) == 0 {
			continue
		}
		found := -1
		for k, passage := range has {
			for _, i := range passage.nearPhrases(said, known) {
				s := passage.sentenceAt(i)
				// One number for passage and sentence: a passage has no million sentences.
				at := k<<20 | s.n
				bound := p.parts[n].label != ""
				if before >= 0 && bound && at != before {
					continue
				}
				if s.holdsPart(p, n, said, known, talk, before == at, before >= 0) {
					found, byRow = at, byRow || s.row || p.row
					break
				}
			}
			if found >= 0 {
				break
			}
		}
		if found < 0 {
			return false, false
		}
		before = found
	}
	return true, byRow
}

// maxCandidates is how many sentences of a passage are looked at that have all words of a part. A part of two common
// words may stand in hundreds; if none of the first eight states it, it is hardly ever stated in the ninth.
const maxCandidates = 8

// nearPhrases returns the phrases of a passage that hold all words of a part of a claim that the passage has, together
// with the sentence that they lean on. Words that are known need not be among them.
func (p *judged) nearPhrases(said []token, known termSet) []int {
	said = said[:min(len(said), maxClause)]
	if len(p.masks) == 0 {
		p.masks = make([]uint64, len(p.phrases))
	}
	clear(p.masks)
	all := uint64(0)
	for k, t := range said {
		needed := !known.hasAny(t.terms)
		for _, term := range t.terms {
			for _, i := range p.where[term] {
				p.masks[i] |= 1 << k
				if needed {
					all |= 1 << k
				}
			}
		}
	}
	var out []int
	for i, mask := range p.masks {
		if mask == 0 {
			continue
		}
		if i > 0 && p.phrases[i].leans {
			mask |= p.masks[i-1]
		}
		if head := p.heads[i]; head >= 0 {
			mask |= p.masks[head]
		}
		if mask&all == all {
			if out = append(out, i); len(out) == maxCandidates {
				break
			}
		}
	}
	return out
}

// holdsPart reports whether a sentence holds a part of a claim. follows says that the part before was found in the same
// sentence, coordinate that there is a part before, whose subject this one may share.
func (s *sentence) holdsPart(claim *phrase, n int, said []token, known, talk termSet, follows, coordinate bool) bool {
	if s.row {
		_, ok := s.placeWords(said, -1, known, talk)
		return ok
	}
	if s.parts[0].label == "" && s.isConditional() && !claim.isConditional() {
		return false
	}
	for m := range s.parts {
		at, ok := s.placeWords(said, m, known, talk)
		if !ok {
			continue
		}
		f := fit{said: said, at: at, s: s, main: m, part: claim.parts[n], negated: claim.negated}
		if claim.row || f.agreesWith(follows, coordinate) {
			return true
		}
	}
	return false
}

// conditions are subordinating words without whose clause nothing is said to be so.
var conditions = wordSet("if unless falls si")

// isConditional reports whether a part of a claim is a condition. What a sentence says on a condition supports no claim
// that leaves the condition out.
func (p *phrase) isConditional() bool {
	return slices.ContainsFunc(p.parts, func(q part) bool { return conditions[q.label] })
}

// isConditional reports the same of the sentence itself, without the phrases that it leans on.
func (s *sentence) isConditional() bool {
	return slices.ContainsFunc(s.parts[s.first:], func(q part) bool { return conditions[q.label] })
}

// placeWords puts each word of a part of a claim to its like in a part of a sentence, else in one before it; -1 for
// words that need no passage. It fails if there is none. A word of about (known) may be left out only in the middle of
// a part: as its predicate, or a passive's verb, it is what is claimed. main is -1 for a row of a table, whose words
// have no order.
func (s *sentence) placeWords(said []token, main int, known, talk termSet) (at []int, ok bool) {
	at = make([]int, len(said))
	taken := make([]bool, len(s.tokens))
	last, held := -1, false
	for i, t := range said {
		best, least := -1, 0
		for k, w := range s.tokens {
			if taken[k] || main >= 0 && w.part > main || !t.isSame(w) {
				continue
			}
			far := k - last - 1
			if far < 0 {
				far = 1 - far
			}
			if main >= 0 && w.part != main {
				far += (1 + main - w.part) * len(s.tokens)
			}
			if best < 0 || far < least {
				best, least = k, far
			}
		}
		switch at[i] = best; {
		case best >= 0:
			taken[best], last, held = true, best, true
		case talk.hasAny(t.terms):
		case !known.hasAny(t.terms) || t.passive || i == len(said)-1:
			return nil, false
		}
	}
	return at, held
}
