package support

// window is the text that a clause is compared with: a sentence of a passage, or a table row with its header.
type window struct {
	tokens  []token
	negated []bool // by segment
	headed  bool   // the first sentence is the header of the second
}

// appendSentence appends a sentence to a window and renumbers its segments and groups, so that they are unique.
func (w *window) appendSentence(p *phrase) {
	segments, groups, sentence := len(w.negated), 0, 0
	if n := len(w.tokens); n > 0 {
		groups, sentence = w.tokens[n-1].group+1, w.tokens[n-1].sentence+1
	}
	for _, t := range p.tokens {
		t.segment += segments
		t.group += groups
		t.sentence = sentence
		w.tokens = append(w.tokens, t)
	}
	w.negated = append(w.negated, p.negated...)
}

// alignment maps the words of a clause to the words of a window. Each word of the window matches at most one word
// of the clause, so a repeated word must occur twice.
type alignment struct {
	clause
	w     *window
	at    []int  // by token of the clause: index of the matching token in the window, or -1
	taken []bool // by token of the window
}

// alignClause matches each word of a clause with the nearest equal word after the previous match, preferably in the
// segment of the window that has most of its own segment.
func alignClause(c clause, w *window) *alignment {
	a := &alignment{clause: c, w: w, at: make([]int, len(c.tokens)), taken: make([]bool, len(w.tokens))}
	for from, to := range c.eachSegment() {
		main, last := a.mainOf(from, to), -1
		for i := from; i < to; i++ {
			best, least := -1, 0
			for k, t := range w.tokens {
				if a.taken[k] || !c.tokens[i].isSame(t) {
					continue
				}
				far := k - last - 1
				if far < 0 {
					far = 1 - far
				}
				if t.segment != main {
					far += len(w.tokens)
				}
				if best < 0 || far < least {
					best, least = k, far
				}
			}
			if a.at[i] = best; best >= 0 {
				a.taken[best], last = true, best
			}
		}
	}
	return a
}

// mainOf returns the segment of the window that has most of a segment of the clause; among equals the one with its
// last words. Negations are compared with it.
func (a *alignment) mainOf(from, to int) int {
	held := make([]float64, len(a.w.negated))
	for i := from; i < to; i++ {
		last := -1
		for _, t := range a.w.tokens {
			if t.segment != last && a.tokens[i].isSame(t) {
				// The last words of a segment are its predicate; 1 % a word only breaks ties.
				held[t.segment] += a.tokens[i].weight * (1 + 0.01*float64(i-from))
				last = t.segment
			}
		}
	}
	best := 0
	for s, h := range held {
		if h > held[best] {
			best = s
		}
	}
	return best
}

// heldShare returns the share of the clause's weight in the window, 0–1.
func (a *alignment) heldShare() float64 {
	held, total := 0.0, 0.0
	for i, t := range a.tokens {
		if a.at[i] >= 0 {
			held += t.weight
		}
		if a.at[i] >= 0 || !a.neutral[i] {
			total += t.weight
		}
	}
	if total == 0 {
		return 1
	}
	return held / total
}

// slot is a range of words in the clause and in the window, between the same two aligned words or next to the same
// one.
type slot struct{ from, to, wFrom, wTo int }

// clauseSlots returns the slots of the clause. There is no slot between two words in reverse order: "A is higher
// than B" and "B is lower than A" have the same meaning.
func (a *alignment) clauseSlots() []slot {
	var out []slot
	before := -1
	for i := 0; i <= len(a.tokens); i++ {
		if i < len(a.tokens) && a.at[i] < 0 {
			continue
		}
		left, right := -1, -1
		switch {
		case before < 0 && i == len(a.tokens):
			return nil
		case before < 0:
			right = a.at[i]
			for left = right - 1; left >= 0 && !a.taken[left] &&
				a.w.tokens[left].segment == a.w.tokens[right].segment; {
				left--
			}
		case i == len(a.tokens):
			left = a.at[before]
			for right = left + 1; right < len(a.w.tokens) && !a.taken[right] &&
				a.w.tokens[right].segment == a.w.tokens[left].segment; {
				right++
			}
		default:
			left, right = a.at[before], a.at[i]
		}
		free := left < right
		for k := left + 1; k < right; k++ {
			free = free && !a.taken[k]
		}
		if free {
			out = append(out, slot{before + 1, i, left + 1, right})
		}
		before = i
	}
	return out
}
