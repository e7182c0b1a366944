package agent

import (
	"slices"

	"footnote/agent/question"
)

// evaluateWithout compares an answer without footnotes, which needs none, with what there is to compare it with.
func (w *work) evaluateWithout(markdown string) (confidence float64, explained string, unsupported []string) {
	switch {
	case !w.asked.NeedsDocuments():
		return w.evaluateTalk(markdown)
	case !w.mustCite():
		c := w.evidence.compare(markdown, func(said string) (string, bool) {
			if by := w.evidence.byTools(said); by != "" || !w.evidence.inPassages(said) {
				return by, false
			}
			return thePassages, false
		})
		return c.confidence(), "No footnotes were asked for. " + c.explain(thePassages), c.unsupported
	case w.bare:
		c := w.evidence.compare(markdown, func(said string) (string, bool) { return w.evidence.byTools(said), false })
		return c.confidence(), c.explain(w.evidence.returned.called()) + " No passage of a document stands behind it.", c.unsupported
	}
	return unchecked, "The answer needs no documents.", []string{}
}

// evaluateTalk compares talk, sums and work on a text in the question with the conversation and what was calculated.
func (w *work) evaluateTalk(markdown string) (confidence float64, explained string, unsupported []string) {
	texts := []string{w.run.Request.Message}
	for _, m := range w.past.messages {
		texts = append(texts, m.Text)
	}
	if question.IsTalk(w.run.Request.Message) {
		texts = append(texts, systemPrompt) // what it is and what it can do
	}
	against := w.evidence.against(theConversation, texts)
	c := w.evidence.compare(markdown, func(said string) (by string, foreign bool) {
		if by = w.evidence.byTools(said); by != "" {
			return by, false
		}
		if w.calculated(said) {
			return theCalculation, false
		}
		return against(said)
	})
	return c.confidence(), "The answer needs no documents. " + c.explain(theConversation), c.unsupported
}

// calculated reports whether a sentence says the result of the calculation that is the question.
func (w *work) calculated(said string) bool {
	v, ok := w.sumAsked()
	if !ok {
		return false
	}
	result, _ := v.Decimal()
	return w.cite.judge.States(said, talkAbout+w.run.Request.Message, w.run.Request.Message, result)
}

// restsOnTools reports whether an answer without footnotes needs none, because it says what tools returned that show no passages: at least one
// of its sentences does, or none states anything and the documents were looked into.
func (w *work) restsOnTools(markdown string) bool {
	if !w.bare || !w.desk.sources.isEmpty() && w.asked.Type != question.Metadata {
		return false
	}
	said := w.evidence.statements(markdown)
	if len(said) == 0 {
		return w.looked() // a word on what was searched is true of a search only
	}
	return slices.ContainsFunc(said, func(c claim) bool { return w.evidence.stated(c.text) })
}
