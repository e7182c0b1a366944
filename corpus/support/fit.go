package support

import "slices"

// fit is an alignment of a claim's part with a sentence in which all words match. Its methods check the grammar for
// ways in which the sentence has another meaning than the claim. In doubt they report a difference.
type fit struct {
	said    []token
	part    part
	negated []bool // by segment of the claim
	at      []int  // by word: index of the matching word in the sentence; -1 for a word that needs no match
	s       *sentence
	main    int // the matched part of the sentence
}

// isTaken reports whether word k of the sentence matches a word of the claim.
func (f *fit) isTaken(k int) bool { return slices.Contains(f.at, k) }

// agreesWith reports whether the words of a part have the same relations in the sentence and in the claim. follows
// and coordinate are those of sentence.holdsPart.
func (f *fit) agreesWith(follows, coordinate bool) bool {
	return f.sameClause() && f.sameStart(follows, coordinate) && f.sameBonds() && f.sameOrder()
}

// factive are subordinating conjunctions whose clauses are true by themselves. In those of conceding nothing else
// depends on the conjunction, so it may also be added.
var (
	factive   = wordSet("because weil parce porque although obwohl aunque while")
	conceding = wordSet("although obwohl aunque while")
)

// sameClause reports whether label, negation, modals and quantifiers of the part match those of the sentence's
// part.
func (f *fit) sameClause() bool {
	there := f.s.parts[f.main]
	if f.part.label != there.label && (f.part.label != "" && !conceding[f.part.label] ||
		there.label != "" && !factive[there.label]) {
		return false
	}
	if f.turnedBy() {
		return false
	}
	// "May be" does not support "is"; "must be" does not support "may be".
	switch {
	case there.modals&possible != 0 && f.part.modals&possible == 0,
		f.part.modals&possible != 0 && there.modals&necessary != 0:
		return false
	}
	// A quantifier must not be added, and only "all" and "only" of the sentence may be omitted.
	if f.part.quant&^there.quant != 0 {
		return false
	}
	return there.quant&(partial|frequent|major|mostly|least)&^f.part.quant == 0
}

// turnedBy reports whether the segments of the claim's words and of the matching words have an odd number of
// negations in total.
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

// sameStart reports whether the sentence has no words before the part's words that these may depend on, and whether
// words of an earlier part may be combined with them.
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
			if borrowed++; i != borrowed-1 && own > 0 {
				return false
			}
		}
	}
	if first < 0 {
		return false
	}
	if borrowed > 0 {
		if !f.startsAt(first) {
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
			return f.isTurned()
		}
	}
	return true
}

// startsAt reports whether a word of the sentence is the first of its part, except for words after prepositions.
func (f *fit) startsAt(k int) bool {
	for i := k - 1; i >= 0 && f.s.tokens[i].part == f.s.tokens[k].part; i-- {
		if f.s.tokens[i].prep == "" {
			return false
		}
	}
	return true
}

// isTurned reports whether the part is passive and the sentence active.
func (f *fit) isTurned() bool {
	for i, k := range f.at {
		if k >= 0 && f.said[i].passive && !f.s.tokens[k].passive {
			return true
		}
	}
	return false
}

// sameBonds reports whether words follow the same prepositions and none was dropped that another depends on. Such
// words are the other half of a hyphenated word, the noun of a genitive, and the end of the previous word's chunk.
func (f *fit) sameBonds() bool {
	before := -1
	for i, u := range f.said {
		k := f.at[i]
		if k < 0 {
			continue
		}
		w := f.s.tokens[k]
		if !f.samePrep(i, u, w) || u.unit != "" && w.unit != "" && u.unit != w.unit ||
			w.hyphen && !f.isTaken(k-1) || w.owns && !u.owns && u.prep != "of" && !f.isTaken(k+1) {
			return false
		}
		if before >= 0 && k > before+1 {
			next, prev := f.s.tokens[before+1], f.s.tokens[before]
			if next.chunk == prev.chunk && w.part == prev.part && w.chunk != next.chunk && !f.isTaken(before+1) {
				return false
			}
		}
		before = k
	}
	return true
}

// samePrep reports whether a word follows the same preposition in claim and sentence. A genitive preposition may be
// added or dropped if the noun it belongs to stays, and that of an agent if the verb changes between active and
// passive.
func (f *fit) samePrep(i int, u, w token) bool {
	first := i == 0 || f.said[i-1].chunk != u.chunk
	switch {
	case u.prep == w.prep:
		return true
	case !first && (w.prep == "" || !f.leadsChunk(f.at[i])):
		return true // the preposition belongs to the first word of its chunk
	case w.prep == "of" && u.prep == "", u.prep == "of" && w.prep == "":
		return f.standsBeside(i)
	case w.prep == "by" && u.prep == "", u.prep == "by" && w.prep == "":
		return f.turnsAround(i)
	case i == 0 && f.part.exists, u.count && (u.prep == "about" || w.prep == "about"):
		return true
	}
	return false
}

// leadsChunk reports whether a word of the sentence is the first of its chunk.
func (f *fit) leadsChunk(k int) bool { return k == 0 || f.s.tokens[k-1].chunk != f.s.tokens[k].chunk }

// standsBeside reports whether a word has the same neighbour in claim and sentence, in either order.
func (f *fit) standsBeside(i int) bool {
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

// turnsAround reports whether a word is on the other side of a verb that is passive in only one of claim and
// sentence.
func (f *fit) turnsAround(i int) bool {
	for j, k := range f.at {
		if j != i && k >= 0 && f.said[j].passive != f.s.tokens[k].passive && (j < i) != (k < f.at[i]) {
			return true
		}
	}
	return false
}

// sameOrder reports whether the words are in the order of the sentence, except for words moved with their
// preposition, genitives, and words swapped by the passive.
func (f *fit) sameOrder() bool {
	for i, u := range f.said {
		for j := i + 1; j < len(f.said); j++ {
			v := f.said[j]
			if f.at[i] < 0 || f.at[j] < 0 {
				continue
			}
			tu, tv := f.s.tokens[f.at[i]], f.s.tokens[f.at[j]]
			if f.at[i] < f.at[j] {
				continue
			}
			mobile := u.prep != "" && u.prep == tu.prep && u.prep != "of" ||
				v.prep != "" && v.prep == tv.prep && v.prep != "of"
			genitive := v.chunk-u.chunk <= 2 &&
				(v.prep == "of" && inOneChunk(tu, tv) || tu.prep == "of" && inOneChunk(u, v))
			if !mobile && !genitive && !f.turnedAround(i, j) {
				return false
			}
		}
	}
	return true
}

// inOneChunk reports whether two words are in the same chunk, or in a chunk and its genitive.
func inOneChunk(a, b token) bool { return a.chunk-b.chunk >= -1 && a.chunk-b.chunk <= 1 }

// turnedAround reports whether a verb between two words is passive in either the claim or the sentence, but not in
// both.
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
