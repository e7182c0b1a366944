package support

import (
	"slices"
)

// MetaWords are words with which answers speak of documents. They need no passage.
const MetaWords = " source text say page section chapter document file according state mention describe list note report explain specify indicate provide total together sum altogether "

// sentence is what a claim is read against: a sentence of a passage, behind the one before where it begins with a
// pronoun and so speaks of the same.
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
		s.join(p.phrases[i-1])
		s.first = len(s.parts)
	} else if head := p.heads[i]; head >= 0 && head < i {
		s.join(p.phrases[head])
	}
	s.join(own)
	return s
}

func (s *sentence) join(p phrase) {
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

// stated reports whether passages say each part of a claim in its own words: a part is taken from one sentence, with
// words left out, moved with their preposition, or turned from active to passive, but with no word added or replaced,
// and with what negates, limits and relates it. byRow says that a row of a table holds a part, whose words have no
// order.
func (p *phrase) stated(known, talk termSet, has []*judged) (ok, byRow bool) {
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
			for _, i := range passage.near(said, known) {
				s := passage.sentenceAt(i)
				at := k<<20 | s.n
				bound := p.parts[n].label != ""
				if before >= 0 && bound && at != before {
					continue
				}
				if s.holds(p, n, said, known, talk, before == at, before >= 0) {
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

// maxCandidates is how many sentences of a passage are looked at that have all words of a part.
const maxCandidates = 8

// near returns the phrases of a passage that hold all words of a part of a claim that the passage has, together with
// the sentence that they lean on. Words that are known need not be among them.
func (p *judged) near(said []token, known termSet) []int {
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

// holds reports whether a sentence holds a part of a claim. follows says that the part before was found in the same
// sentence, coordinate that there is a part before, whose subject this one may share.
func (s *sentence) holds(claim *phrase, n int, said []token, known, talk termSet, follows, coordinate bool) bool {
	if s.row {
		_, ok := s.place(said, -1, known, talk)
		return ok
	}
	if s.parts[0].label == "" && s.conditional() && !claim.conditional() {
		return false
	}
	for m := range s.parts {
		at, ok := s.place(said, m, known, talk)
		if !ok {
			continue
		}
		f := fit{said: said, at: at, s: s, main: m, part: claim.parts[n], negated: claim.negated}
		if claim.row || f.agrees(follows, coordinate) {
			return true
		}
	}
	return false
}

// conditions are subordinating words without whose clause nothing is said to be so.
var conditions = wordSet("if unless falls si")

func (p *phrase) conditional() bool {
	return slices.ContainsFunc(p.parts, func(q part) bool { return conditions[q.label] })
}

func (s *sentence) conditional() bool {
	return slices.ContainsFunc(s.parts[s.first:], func(q part) bool { return conditions[q.label] })
}

// place puts each word of a part of a claim to its like in a part of a sentence, else in one before it; -1 for words
// that need no passage. It fails if there is none.
func (s *sentence) place(said []token, main int, known, talk termSet) (at []int, ok bool) {
	at = make([]int, len(said))
	taken := make([]bool, len(s.tokens))
	last, held := -1, false
	for i, t := range said {
		best, least := -1, 0
		for k, w := range s.tokens {
			if taken[k] || main >= 0 && w.part > main || !t.same(w) {
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

// fit is a part of a claim as it was placed in a sentence.
type fit struct {
	said    []token
	part    part
	negated []bool // by segment of the claim
	at      []int  // by word: which of the sentence it is; -1 for one that needs no passage
	s       *sentence
	main    int // the part of the sentence
}

func (f *fit) taken(k int) bool { return slices.Contains(f.at, k) }

func (f *fit) agrees(follows, coordinate bool) bool {
	return f.sameClause() && f.sameStart(follows, coordinate) && f.sameBonds() && f.sameOrder()
}

// factive are subordinating words whose clauses are true by themselves. Of those in conceding nothing else hangs on
// the word, so that it may also be added.
var (
	factive   = wordSet("because weil parce porque although obwohl aunque while")
	conceding = wordSet("although obwohl aunque while")
)

// sameClause reports whether what holds for the whole part holds for the sentence's: its label, negation, modals and
// quantifiers.
func (f *fit) sameClause() bool {
	there := f.s.parts[f.main]
	if f.part.label != there.label && (f.part.label != "" && !conceding[f.part.label] ||
		there.label != "" && !factive[there.label]) {
		return false
	}
	if f.turnedBy() {
		return false
	}
	switch {
	case there.modals&possible != 0 && f.part.modals&possible == 0,
		f.part.modals&possible != 0 && there.modals&necessary != 0:
		return false
	}
	if f.part.quant&^there.quant != 0 {
		return false
	}
	return there.quant&(partial|frequent|major|mostly|least)&^f.part.quant == 0
}

// turnedBy reports whether the segments of the claim's words and those of the sentence's own words have an odd number
// of negations together.
func (f *fit) turnedBy() bool {
	odd := false
	last, lastThere := -1, -1
	for i, t := range f.said {
		if t.segment != last {
			last, odd = t.segment, odd != f.negated[t.segment]
		}
		if f.at[i] < 0 {
			continue
		}
		if w := f.s.tokens[f.at[i]]; w.part == f.main && w.segment > lastThere {
			lastThere, odd = w.segment, odd != f.s.negated[w.segment]
		}
	}
	return odd
}

// sameStart reports whether nothing stands before the part's words in the sentence that they may depend on, and
// whether words of a part before may go with them.
func (f *fit) sameStart(follows, coordinate bool) bool {
	if f.part.exists {
		return true
	}
	first, borrowed, own := -1, 0, 0
	for i, k := range f.at {
		switch {
		case k < 0:
		case f.s.tokens[k].part == f.main:
			if own++; first < 0 || k < first {
				first = k
			}
		default:
			if borrowed++; i != borrowed-1 && own > 0 && !f.wholly() {
				return false
			}
		}
	}
	if first < 0 {
		return false
	}
	if borrowed > 0 {
		if !f.startsAt(first) && !f.wholly() {
			return false
		}
		first = slices.Min(slices.DeleteFunc(slices.Clone(f.at), func(k int) bool { return k < 0 }))
	} else if coordinate && f.main > f.s.first && !follows {
		return false
	}
	if coordinate && borrowed == 0 && !f.startsAt(first) {
		return false
	}
	for k := first - 1; k >= 0; k-- {
		w, to := f.s.tokens[k], f.s.tokens[first]
		if w.part != to.part || w.segment != to.segment {
			break
		}
		if w.chunk != to.chunk && w.prep == "" {
			return f.turned()
		}
	}
	return true
}

// startsAt reports whether a word of the sentence is the first one of its part, but for what stands behind
// prepositions.
func (f *fit) startsAt(k int) bool {
	for i := k - 1; i >= 0 && f.s.tokens[i].part == f.s.tokens[k].part; i-- {
		if f.s.tokens[i].prep == "" {
			return false
		}
	}
	return true
}

// wholly reports whether all of the sentence's part is taken.
func (f *fit) wholly() bool {
	for k, w := range f.s.tokens {
		if w.part == f.main && !f.taken(k) {
			return false
		}
	}
	return true
}

// turned reports whether the part is passive where the sentence is active.
func (f *fit) turned() bool {
	for i, k := range f.at {
		if k >= 0 && f.said[i].passive && !f.s.tokens[k].passive {
			return true
		}
	}
	return false
}

// sameBonds reports whether words stand behind the same prepositions, and nothing was left out that they belong to.
func (f *fit) sameBonds() bool {
	before := -1
	for i, u := range f.said {
		k := f.at[i]
		if k < 0 {
			continue
		}
		w := f.s.tokens[k]
		if !f.samePrep(i, u, w) || u.unit != "" && w.unit != "" && u.unit != w.unit ||
			w.hyphen && !f.taken(k-1) || w.owns && !u.owns && u.prep != "of" && !f.taken(k+1) {
			return false
		}
		if before >= 0 && k > before+1 {
			next, prev := f.s.tokens[before+1], f.s.tokens[before]
			if next.chunk == prev.chunk && w.part == prev.part && w.chunk != next.chunk && !f.taken(before+1) {
				return false
			}
		}
		before = k
	}
	return true
}

// samePrep reports whether a word of the claim stands behind the same preposition as in the sentence. One that makes
// a genitive of it may go or come if the word it belongs to stays, and the one of an agent if the verb turns.
func (f *fit) samePrep(i int, u, w token) bool {
	first := i == 0 || f.said[i-1].chunk != u.chunk
	switch {
	case u.prep == w.prep, u.prep == w.carried && w.prep == "", w.prep != "" && w.prep == u.carried:
		return true
	case !first && (w.prep == "" || !f.leads(f.at[i])):
		return true // the preposition belongs to the first of its chunk
	case w.prep == "of" && u.prep == "", u.prep == "of" && w.prep == "":
		return f.beside(i)
	case w.prep == "by" && u.prep == "", u.prep == "by" && w.prep == "":
		return f.turns(i)
	case i == 0 && f.part.exists, u.count && (u.prep == "about" || w.prep == "about"):
		return true
	}
	return false
}

// leads reports whether a word of the sentence is the first of its chunk.
func (f *fit) leads(k int) bool { return k == 0 || f.s.tokens[k-1].chunk != f.s.tokens[k].chunk }

// beside reports whether a word of the claim stands beside another in it that it stands beside in the sentence too,
// in whatever order.
func (f *fit) beside(i int) bool {
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(f.at) && f.at[j] >= 0 {
			a, b := f.s.tokens[f.at[i]], f.s.tokens[f.at[j]]
			if d := a.chunk - b.chunk; d >= -1 && d <= 1 || a.chunk-b.chunk == 2 || b.chunk-a.chunk == 2 {
				return true
			}
		}
	}
	return false
}

// turns reports whether a word stands on the other side of a verb in the sentence, which is passive in one of both.
func (f *fit) turns(i int) bool {
	for j, k := range f.at {
		if j != i && k >= 0 && f.said[j].passive != f.s.tokens[k].passive && (j < i) != (k < f.at[i]) {
			return true
		}
	}
	return false
}

// sameOrder reports whether the words stand in the order of the sentence, but for those that moved with their
// preposition, genitives, and what a passive turns around.
func (f *fit) sameOrder() bool {
	for i, u := range f.said {
		for j := i + 1; j < len(f.said); j++ {
			v := f.said[j]
			if f.at[i] < 0 || f.at[j] < 0 {
				continue
			}
			tu, tv := f.s.tokens[f.at[i]], f.s.tokens[f.at[j]]
			if f.at[i] < f.at[j] {
				if j == i+1 && u.chunk != v.chunk && v.passive && !tv.passive && tv.prep == "" && f.object(f.at[j]) {
					return false
				}
				continue
			}
			mobile := u.prep != "" && u.prep == tu.prep && u.prep != "of" ||
				v.prep != "" && v.prep == tv.prep && v.prep != "of"
			genitive := v.chunk-u.chunk <= 2 && (v.prep == "of" && near(tu, tv) || tu.prep == "of" && near(u, v))
			if !mobile && !genitive && !f.turnedAround(i, j) {
				return false
			}
		}
	}
	return true
}

// near reports whether two words stand in one chunk, or in one and its genitive.
func near(a, b token) bool { return a.chunk-b.chunk >= -1 && a.chunk-b.chunk <= 1 }

// object reports whether something without a preposition stands behind a verb of the sentence.
func (f *fit) object(k int) bool {
	return k+1 < len(f.s.tokens) && f.s.tokens[k+1].part == f.s.tokens[k].part && f.s.tokens[k+1].prep == "" &&
		!f.taken(k+1)
}

// turnedAround reports whether a verb from one to the other of two words is passive in the claim or in the sentence
// only.
func (f *fit) turnedAround(i, j int) bool {
	for k := i; k <= j; k++ {
		if f.at[k] < 0 {
			continue
		}
		w := f.s.tokens[f.at[k]]
		if f.said[k].passive != w.passive && f.at[k] >= f.at[j] && f.at[k] <= f.at[i] {
			return true
		}
	}
	return false
}
