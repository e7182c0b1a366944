package run

import (
	"context"
	"strings"

	"footnote/agent/question"
)

// byTitle notes the document that a question names by its whole title: what it asks for stands in that one.
func (w *Runner) byTitle(ctx context.Context) error {
	asked := strings.TrimSpace(w.run.Request.Message)
	if w.givenText() || len(asked) > question.MaxAnalysed {
		return nil
	}
	switch w.asked.Type {
	case question.Factual, question.Exploratory, question.Metadata:
	default:
		return nil
	}
	for _, name := range question.PossibleTitles(asked) {
		doc, ok, err := w.toolContext.FindByTitle(ctx, name)
		if err != nil {
			return err
		}
		if ok {
			w.titled, w.asked = doc, w.asked.WithType(question.SpecificDocument, asked)
			return nil
		}
	}
	return nil
}
