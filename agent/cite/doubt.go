package cite

import "slices"

// Shown is the part of the evidence in the context of the model that judges an answer.
type Shown struct {
	Texts     []string // passages, and paragraphs of the text that came with the question
	Footnotes []int    // footnotes whose texts are all in Texts
}

// TextsBehind returns the texts behind a footnote of the answer; none if it has no source.
func (e *Evidence) TextsBehind(footnote int) []string {
	src, ok := e.sourceOf(footnote)
	if !ok {
		return nil
	}
	return e.textsBehind(footnote, src)
}

// Doubtable returns the sentences of an answer that a model can check against the texts in its prompt. These are
// sentences that resemble the texts by the rules, or that rules can't compare because the languages differ. All
// others are already unsupported, or rest on texts outside the prompt. Excluding sentences that rules found
// unsupported ensures that a model can lower the confidence but never raise it. The result goes to the judging model
// together with Shown.
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
			inShown(c.Nearby) && e.supportsText(c.Text, c.Nearby, e.citer.Judge.Resembles) {
			out = append(out, c.Text)
		}
	}
	return out
}

// isDoubted reports whether the judging model found a sentence in none of its texts.
func (e *Evidence) isDoubted(said string) bool { return slices.Contains(e.Doubted, said) }
