package support

import (
	"slices"
)

// MetaWords are words that answers use about documents. They need no match in a passage.
const MetaWords = " source text say page section chapter document file according state mention describe list note " +
	"report explain specify indicate provide total together sum altogether "

// sentence is what a claim is compared with: a sentence of a passage, preceded by the previous one if it begins
// with a pronoun, or a table row preceded by the header.
type sentence struct {
	n       int // index of its phrase
	tokens  []token
	parts   []part
	negated []bool // by segment
	first   int    // index of the first part that is its own
	row     bool
}

// sentenceAt returns the sentence of the i-th phrase of a passage.
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

// joinPhrase appends a phrase and renumbers its parts, chunks and segments, so that words of both can be
// distinguished.
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

// isStated reports whether passages state each part of a claim in its own words. Each part must be taken from one
// sentence, with its negations, limits and relations. Words may be left out, moved with their preposition, or
// changed from active to passive, but not added or replaced. byRow reports that a table row, whose words have no
// order, holds a part.
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
				// One number for passage and sentence: a passage has fewer than a million sentences.
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

// maxCandidates is the maximum number of sentences with all words of a part that are compared. Two common words may
// occur in hundreds; if none of the first eight states the part, the ninth hardly ever does.
const maxCandidates = 8

// nearPhrases returns the phrases of a passage that contain all words of a part of a claim that the passage has,
// together with the sentence that they refer to. Known words are optional.
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

// holdsPart reports whether a sentence contains a part of a claim. follows reports that the previous part was found
// in the same sentence. coordinate reports that there is a previous part, whose subject this one may share.
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
		if f.agreesWith(follows, coordinate) {
			return true
		}
	}
	return false
}

// conditions are conjunctions of conditional clauses.
var conditions = wordSet("if unless falls si")

// isConditional reports whether a part of a claim is a condition. A conditional sentence supports no claim without
// the condition.
func (p *phrase) isConditional() bool {
	return slices.ContainsFunc(p.parts, func(q part) bool { return conditions[q.label] })
}

// isConditional reports whether the sentence itself, without the phrases that it refers to, has a condition.
func (s *sentence) isConditional() bool {
	return slices.ContainsFunc(s.parts[s.first:], func(q part) bool { return conditions[q.label] })
}

// placeWords matches each word of a part of a claim with the same word in a part of a sentence, else in an earlier
// part. at is -1 for words that need no match. ok is false if a word has no match. A word of about (known) may be
// left out only in the middle of a part: as its predicate, or a passive's verb, it is the claim. main is -1 for a
// table row, whose words have no order.
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
