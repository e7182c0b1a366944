package run

import (
	"context"
	"strconv"

	"footnote/chat"
	"footnote/english"
)

// placeInstead adds footnotes to an answer when the model placed none, or none that holds: it marks each sentence that
// a passage supports. If fewer than half of the sentences that state something are supported, it does nothing and ok is
// false.
func (w *Runner) placeInstead(ctx context.Context, answer string) (ok bool, err error) {
	marked, placed, stated := w.evidence.WithPlacedFootnotes(answer)
	if placed == 0 || 2*placed < stated {
		return false, nil
	}
	step := w.newStep("review", chat.ActionAnalysing, chat.StatusComplete,
		"The model placed no footnote that holds: "+english.Count(placed, "sentence")+" of "+strconv.Itoa(
			stated,
		)+" got one from the passages")
	stray := w.cite.StrayNumbers
	if err := w.takeBack(ctx, step); err != nil {
		return false, err
	}
	w.cite.StrayNumbers = stray // the sentences are the model's, and so were the numbers that are left out
	return true, w.writer.Write(ctx, marked)
}
