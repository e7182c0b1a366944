package support

// window is what a clause is compared with: a sentence of a passage, two neighbours, or a row of a table with its head.
type window struct {
	tokens  []token
	negated []bool // by segment
	headed  bool   // the first sentence is the head of the second
}

// appendSentence appends a sentence to a window. Its segments and groups go on counting, so that none is that of
// another.
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

// alignment says which words of a clause stand where in a window. Each word of the window stands for one of the clause
// at most, so that a word said twice has to be there twice.
type alignment struct {
	clause
	w     *window
	at    []int  // by token of the clause: which of the window it is, or -1
	taken []bool // by token of the window

	elsewhere uint64 // which tokens of the clause stand anywhere in the passages
}

// alignClause puts each word of a clause to the nearest like it behind the one before, first of all in the segment of
// the window that holds most of its own segment.
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

// mainOf is the segment of the window that holds most of a segment of the clause, and of two alike the one with its
// last words. Negations are compared with it.
func (a *alignment) mainOf(from, to int) int {
	held := make([]float64, len(a.w.negated))
	for i := from; i < to; i++ {
		last := -1
		for _, t := range a.w.tokens {
			if t.segment != last && a.tokens[i].isSame(t) {
				// The last words of a segment are its predicate; 1 % a word only decides between equals.
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

// heldShare is how much of the clause's weight the window holds, 0–1.
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

// slot is a stretch of words of the clause, and of the window, between the same two aligned words or beside the same
// one.
type slot struct{ from, to, wFrom, wTo int }

// clauseSlots returns the slots of the clause. Where two words stand in the other order in the window, there is none
// between them: "A is higher than B" and "B is lower than A" say the same.
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
