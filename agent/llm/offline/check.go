package offline

import (
	"cmp"
	"slices"
)

// checkTool is the name of the tool that asks a language model whether quotes answer. It is offered if one is
// connected.
const checkTool = "check_passages"

// leastChecked is the minimum probability of a checked quote to be called found. With it 1 of 22 questions without
// an answer was called found, and 35 of 46 with a right quote: docs/quality.md, “Checked passages”.
const leastChecked = 0.35

// shownChecked is the minimum probability of a checked quote to be shown.
const shownChecked = 0.1

// mostChecked is the maximum number of quotes in one check.
const mostChecked = 6

// checked is the verdict on a quote. Probability is that of an answer, 0–1; nil if only yes or no is known.
type checked struct {
	N           int      `json:"n"`
	Words       string   `json:"words"`
	Answers     bool     `json:"answers"`
	Probability *float64 `json:"probability"`
}

// canCheck reports whether a language model can check quotes, which is false after one failure.
func (t turn) canCheck() bool {
	return t.has(checkTool) &&
		!slices.ContainsFunc(t.of(checkTool), func(r result) bool { return r.out.Error != nil })
}

// asksCheck returns the call that has a language model check the quotes of an answer. ok is false without the tool,
// after a failure, or if all quotes were checked.
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

// verdict returns the verdict on words of a passage. known is false for words that were not checked.
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

// checked reranks an answer by the verdicts. Quotes that don't answer are dropped if others do. The most probable
// quote comes first, and its probability determines the finding. An answer with an unchecked quote is unchanged.
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
		if c.Probability == nil { // only yes or no: the rules' probability, limited to its side
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
	return a.rendered(t, leastChecked, shownChecked)
}
