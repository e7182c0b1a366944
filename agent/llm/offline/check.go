package offline

import (
	"cmp"
	"slices"
)

// checkTool asks a language model whether quotes answer. It is offered where one is connected.
const checkTool = "check_passages"

// leastChecked is the probability from which a checked quote is called found. With it 1 of 22 questions without an
// answer was called found, and 35 of 46 with a right quote: docs/quality.md, “Checked passages”.
const leastChecked = 0.35

// mostChecked is how many quotes are checked at once.
const mostChecked = 6

// checked is a quote that was checked. Probability is that of an answer, 0–1; nil where only yes or no is known.
type checked struct {
	N           int      `json:"n"`
	Words       string   `json:"words"`
	Answers     bool     `json:"answers"`
	Probability *float64 `json:"probability"`
}

// canCheck reports whether a language model can check quotes. After one failure it can't.
func (t turn) canCheck() bool {
	return t.has(checkTool) &&
		!slices.ContainsFunc(t.of(checkTool), func(r result) bool { return r.out.Error != nil })
}

// asksCheck is the call that has a language model check the quotes of an answer. ok is false when none is offered, or
// when all of them were checked, or the check has failed.
func (t turn) asksCheck(a answer) (step, bool) {
	if !t.canCheck() {
		return step{}, false
	}
	var ask []map[string]any
	for _, q := range a.quotes {
		src := a.pile.sources[q.source]
		if _, known := t.verdict(src.N, a.pile.words(q)); src.N > 0 && !known && len(ask) < mostChecked {
			ask = append(ask, map[string]any{"n": src.N, "words": a.pile.words(q)})
		}
	}
	if len(ask) == 0 {
		return step{}, false
	}
	return step{checkTool, map[string]any{"question": t.question, "quotes": ask}}, true
}

// verdict is what the check of words of a passage came to. known is false for words that were not checked.
func (t turn) verdict(n int, words string) (c checked, known bool) {
	for _, r := range t.of(checkTool) {
		for _, c := range r.out.Quotes {
			if c.N == n && c.Words == words {
				return c, true
			}
		}
	}
	return checked{}, false
}

// checked is an answer after its quotes were checked: quotes that don't answer are dropped where others do, the
// likeliest stands first, and its probability decides what the quotes are called. An answer of which a quote was not
// checked stays as it is.
func (t turn) checked(a answer) answer {
	type rated struct {
		quote
		checked
	}
	var all []rated
	for _, q := range a.quotes {
		c, known := t.verdict(a.pile.sources[q.source].N, a.pile.words(q))
		if !known {
			return a
		}
		if c.Probability == nil { // a word alone: as likely as the rules have it, on its side
			sure := min(a.sure, leastChecked/2)
			if c.Answers {
				sure = max(a.sure, leastChecked)
			}
			c.Probability = &sure
		}
		all = append(all, rated{q, c})
	}
	if len(all) == 0 {
		return a
	}
	slices.SortStableFunc(all, func(x, y rated) int { return cmp.Compare(*y.Probability, *x.Probability) })
	a.quotes, a.sure = nil, *all[0].Probability
	for _, r := range all {
		if r.Answers || !all[0].Answers {
			a.quotes = append(a.quotes, r.quote)
		}
	}
	return a.said(t, leastChecked)
}
