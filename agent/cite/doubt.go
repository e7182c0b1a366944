package cite

import "slices"

// Shown is what a model that judges an answer is shown of what the answer rests on.
type Shown struct {
	Texts     []string // passages, and paragraphs of the text that came with the question
	Footnotes []int    // those of which everything behind them is in Texts
}

// TextsBehind are the texts behind a footnote of the answer, none if it has no source.
func (e *Evidence) TextsBehind(footnote int) []string {
	src, ok := e.sourceOf(footnote)
	if !ok {
		return nil
	}
	return e.textsBehind(footnote, src)
}

// Doubtable returns the sentences of an answer that a model can check against what it is shown: those that resemble it
// by the rules, or that they can't compare because the languages differ. The other sentences are unsupported already,
// or rest on something that the model is not shown. What the rules already found unsupported is not asked about, so
// that a model can lower the confidence and never raise it. It goes to the model that judges the answer, together with
// Shown.
func (e *Evidence) Doubtable(markdown string, shown Shown) []string {
	var out []string
	holds := e.Against(theGivenText, shown.Texts)
	inShown := func(footnotes []int) bool {
		return len(footnotes) > 0 &&
			!slices.ContainsFunc(footnotes, func(n int) bool { return !slices.Contains(shown.Footnotes, n) })
	}
	for _, c := range e.FactualClaims(markdown) {
		by, foreign := holds(c.Text, e.citer.Judge.Resembles)
		if by != "" || foreign || inShown(c.Numbers) && e.supportsClaim(c, e.citer.Judge.Resembles) ||
			inShown(c.Nearby) && e.holdsText(c.Text, c.Nearby, e.citer.Judge.Resembles) {
			out = append(out, c.Text)
		}
	}
	return out
}

// isDoubted reports whether the model that judged the answer found a sentence in nothing that it was shown.
func (e *Evidence) isDoubted(said string) bool { return slices.Contains(e.Doubted, said) }
