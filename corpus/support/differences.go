package support

import "slices"

// isMisbound reports whether words of the clause are related to other words in the window than in the clause. Any
// such difference contradicts the clause, however many words match.
func (a *alignment) isMisbound() bool {
	return a.hasExchange() || a.hasCrossed() || a.isMisplaced() || a.isMismeasured() || a.isMisnamed()
}

// countReplaced counts single words of the clause that the window replaces. It returns 0 if more words have no
// match: then the clause is a paraphrase.
func (a *alignment) countReplaced() int {
	if a.tokens[0].gram { // a bigram changes with its neighbours
		return 0
	}
	n := 0
	for _, s := range a.clauseSlots() {
		switch said, there := s.to-s.from, s.wTo-s.wFrom; {
		case said == 0:
		case said == 1 && there > 0 && there <= 2 && a.countRest(s) <= 1 && !a.neutral[s.from]:
			n++
		default:
			return 0
		}
	}
	return n
}

// countRest counts the other unmatched words in the slot's part of the window. If there are many, the clause does
// not repeat the sentence.
func (a *alignment) countRest(s slot) int {
	n := 0
	for k, t := range a.w.tokens {
		if t.group == a.w.tokens[s.wFrom].group && !a.taken[k] && (k < s.wFrom || k >= s.wTo) {
			n++
		}
	}
	return n
}

// countTurned counts the segments that are negated in only one of the clause and the window.
func (a *alignment) countTurned() int {
	n := 0
	for from, to := range a.eachSegment() {
		main := a.mainOf(from, to)
		inMain, held := 0.0, 0.0
		for i := from; i < to; i++ {
			if a.at[i] >= 0 {
				held += a.tokens[i].weight
				if a.w.tokens[a.at[i]].segment == main {
					inMain += a.tokens[i].weight
				}
			}
		}
		said := a.said.negated[a.tokens[from].segment]
		if held > 0 && (inMain >= 2*wordWeight || to == from+1) && 2*inMain >= held && said != a.w.negated[main] {
			n++
		}
	}
	return n
}

// hasExchange reports whether two words of the clause have swapped roles in the window: they are on opposite sides
// of a third word, or one follows the function word of the other. A passive swaps two names.
func (a *alignment) hasExchange() bool {
	for i, u := range a.tokens {
		for j := i + 1; j < len(a.tokens); j++ {
			v := a.tokens[j]
			if a.at[i] < 0 || a.at[j] < 0 || u.gram || v.gram {
				continue
			}
			tu, tv := a.w.tokens[a.at[i]], a.w.tokens[a.at[j]]
			names := (u.isName() || tu.isName()) && (v.isName() || tv.isName())
			if (names || u.count && v.count) && (leadsAnother(u, v, tu, tv) || leadsAnother(v, u, tv, tu)) {
				return true
			}
			if u.segment != v.segment || !names && j > i+2 || u.count || v.count || tu.group != tv.group ||
				!a.isPivot(i, j) {
				continue
			}
			// Both moved and swapped function words, or one got the function word of an agent and nothing moved.
			if a.at[i] > a.at[j] && u.lead == tv.lead && v.lead == tu.lead ||
				a.at[i] < a.at[j] && agents[v.lead] != agents[tv.lead] && u.lead == tu.lead {
				return true
			}
		}
	}
	return false
}

// isPivot reports whether a word is between two others both in the clause and in the window.
func (a *alignment) isPivot(i, j int) bool {
	for k := i + 1; k < j; k++ {
		if !a.tokens[k].isName() && !a.tokens[k].count && a.at[k] > min(a.at[i], a.at[j]) &&
			a.at[k] < max(a.at[i], a.at[j]) {
			return true
		}
	}
	return false
}

// leadsAnother reports whether the function word before u in the clause precedes v in the window.
func leadsAnother(u, v, tu, tv token) bool {
	return u.lead != "" && u.lead == tv.lead && tu.lead != u.lead && v.lead != u.lead
}

// hasCrossed reports whether a name or a number and another word of the clause match in two parts of the window,
// each of which has its own in place of the other: "A weighs 5 kg and B 7 kg" for "A weighs 7 kg".
func (a *alignment) hasCrossed() bool {
	if a.w.headed {
		return false
	}
	for i, u := range a.tokens {
		for j, v := range a.tokens {
			if i == j || a.at[i] < 0 || a.at[j] < 0 || u.segment != v.segment || u.gram || v.gram ||
				!u.isDistinct() && !v.isDistinct() {
				continue
			}
			tu, tv := a.w.tokens[a.at[i]], a.w.tokens[a.at[j]]
			g, h := tu.group, tv.group
			// Each part lacks one of the two words and has another of the same kind.
			if g < h && !a.groupHas(h, u) && !a.groupHas(g, v) && a.hasOther(h, u) && a.hasOther(g, v) {
				return true
			}
		}
	}
	return false
}

// groupHas reports whether a group of the window has a word.
func (a *alignment) groupHas(group int, like token) bool {
	return slices.ContainsFunc(a.w.tokens, func(t token) bool { return t.group == group && like.isSame(t) })
}

// hasOther reports whether a group of the window has a word of the same kind that the clause lacks.
func (a *alignment) hasOther(group int, like token) bool {
	return slices.ContainsFunc(a.w.tokens, func(t token) bool {
		return t.group == group && t.count == like.count && t.isName() == like.isName() &&
			!slices.ContainsFunc(a.tokens, t.isSame)
	})
}

// isMisplaced reports whether a number in a table row is in another column than the one named in the clause, which
// also has a number. A column is named by its header cell.
func (a *alignment) isMisplaced() bool {
	if !a.w.headed {
		return false
	}
	columns := map[int]bool{} // that the clause names
	for i := range a.tokens {
		if a.at[i] >= 0 && a.w.tokens[a.at[i]].sentence == 0 {
			columns[a.w.tokens[a.at[i]].column] = true
		}
	}
	for i, v := range a.tokens {
		if !v.count || a.at[i] < 0 || a.w.tokens[a.at[i]].sentence == 0 || columns[a.w.tokens[a.at[i]].column] {
			continue
		}
		if slices.ContainsFunc(a.w.tokens, func(t token) bool {
			return t.count && t.sentence > 0 && columns[t.column]
		}) {
			return true
		}
	}
	return false
}

// isMismeasured reports whether a number has another unit in the window. Units are the words next to a number; "kg"
// equals "kilograms".
func (a *alignment) isMismeasured() bool {
	for i, n := range a.tokens {
		if !n.count || a.at[i] < 0 {
			continue
		}
		t := a.w.tokens[a.at[i]]
		if n.unit != "" && t.unit != "" && n.unit != t.unit {
			return true
		}
		if i+1 == len(a.tokens) || a.at[i]+1 == len(a.w.tokens) {
			continue
		}
		said, there := a.tokens[i+1], a.w.tokens[a.at[i]+1]
		if said.beside && there.beside && !said.count && !there.count && !said.gram && a.at[i+1] < 0 &&
			!a.taken[a.at[i]+1] && !a.neutral[i+1] {
			return true
		}
	}
	return false
}

// isMisnamed reports whether the window has another name in place of one of the clause, or after the function word
// before it: "on Thursday", "on Tuesday".
func (a *alignment) isMisnamed() bool {
	for i, c := range a.tokens {
		if c.isName() && c.lead != "" && !a.neutral[i] && a.hasFreeName(0, len(a.w.tokens), c.lead) {
			return true
		}
	}
	return slices.ContainsFunc(a.clauseSlots(), func(s slot) bool {
		for i := s.from; i < s.to; i++ {
			if a.tokens[i].isName() && !a.neutral[i] {
				return a.hasFreeName(s.wFrom, s.wTo, a.tokens[i].lead)
			}
		}
		return false
	})
}

// hasFreeName reports whether a range of the window has a name after the given function word, or after none, that
// the clause lacks.
func (a *alignment) hasFreeName(from, to int, lead string) bool {
	for k := from; k < to; k++ {
		if t := a.w.tokens[k]; !a.taken[k] && t.isName() && t.lead == lead {
			return true
		}
	}
	return false
}
