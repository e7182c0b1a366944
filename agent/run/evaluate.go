package run

import (
	"slices"

	"footnote/agent/ground"
	"footnote/agent/question"
)

// evaluation is how far an answer is borne out, as the program finds it.
type evaluation struct {
	confidence  float64
	explained   string
	unsupported []string
	faultless   bool // everything that the answer states is held, or it states nothing
}

// evaluateWithout compares an answer without footnotes, which needs none, with what there is to compare it with.
func (w *Runner) evaluateWithout(markdown string) evaluation {
	switch {
	case !w.asked.NeedsDocuments():
		return w.evaluateTalk(markdown)
	case !w.mustCite():
		c := w.evidence.Compare(markdown, func(said string) (string, bool) {
			if by := w.evidence.ByTools(said); by != "" || !w.evidence.InPassages(said) {
				return by, false
			}
			return ground.ThePassages, false
		})
		return evaluation{
			c.Confidence(), "No footnotes were asked for. " + c.Explain(ground.ThePassages), c.Unsupported, c.IsFaultless(),
		}
	case w.hasToolFacts:
		c := w.evidence.Compare(markdown, func(said string) (string, bool) { return w.evidence.ByTools(said), false })
		return evaluation{c.Confidence(), c.Explain(w.evidence.Results.DisplayName()) +
			" No passage of a document stands behind it.", c.Unsupported, c.IsFaultless()}
	}
	return evaluation{ground.UncheckedConfidence, "The answer needs no documents.", []string{}, true}
}

// evaluateTalk compares talk, sums and work on a text in the question with the conversation and what was calculated.
func (w *Runner) evaluateTalk(markdown string) evaluation {
	texts := append([]string{w.run.Request.Message}, w.conversation.evidence...)
	if question.IsTalk(w.run.Request.Message) {
		texts = append(texts, systemPrompt) // what it is and what it can do
	}
	against := w.evidence.Against(ground.TheConversation, texts)
	c := w.evidence.Compare(markdown, func(said string) (by string, foreign bool) {
		if by = w.evidence.ByTools(said); by != "" {
			return by, false
		}
		if w.calculated(said) {
			return ground.TheCalculation, false
		}
		return against(said)
	})
	return evaluation{
		c.Confidence(), "The answer needs no documents. " + c.Explain(ground.TheConversation), c.Unsupported,
		c.IsFaultless(),
	}
}

// calculated reports whether a sentence says the result of the calculation that is the question.
func (w *Runner) calculated(said string) bool {
	v, ok := w.sumAsked()
	if !ok {
		return false
	}
	result, _ := v.Decimal()
	return w.cite.Judge.States(said, ground.TalkWords+w.run.Request.Message, w.run.Request.Message, result)
}

// restsOnTools reports whether an answer needs no footnotes because it says what tools returned that show no passages.
// At least one sentence must say so, or no sentence states anything and the run has searched the documents.
func (w *Runner) restsOnTools(markdown string) bool {
	if !w.hasToolFacts || !w.toolContext.Sources.IsEmpty() && w.asked.Type != question.Metadata {
		return false
	}
	said := w.evidence.FactualClaims(markdown)
	if len(said) == 0 {
		return w.searchedDocuments() // a word on what was searched is true of a search only
	}
	return slices.ContainsFunc(said, func(c ground.Claim) bool { return w.evidence.StatedByTools(c.Text) })
}
