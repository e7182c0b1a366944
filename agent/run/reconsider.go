package run

import (
	"context"
	"fmt"

	"footnote/agent/ground"
	"footnote/chat"
	"footnote/llm"
)

// lowConfidence is the model's confidence below which it says that its answer rather fails the question than
// addresses it.
const lowConfidence = 0.5

// draft is an answer that was judged.
type draft struct {
	original   string // with the model's own markers
	judged     judgement
	confidence float64 // of judged and the program's check together
}

// reconsider lets the model judge the answer that was written. True means that its confidence was low and that the
// model searches on, as far as the budget goes. It ends when the confidence does not rise any more; then the better
// of the two answers stands.
func (w *Runner) reconsider(ctx context.Context) (again bool, err error) {
	text, err := w.writer.Finish(ctx)
	if err != nil {
		return false, err
	}
	if !w.reflects(text) {
		if w.earlier != nil && (w.onFallback || ground.IsRefusal(text) || len(w.cite.Citations) == 0) {
			return false, w.restoreEarlier(ctx)
		}
		w.adopt(judgement{})
		return false, nil
	}
	if err := w.emit(ctx, w.writer.Rest()...); err != nil { // the answer does not wait to be judged
		return false, err
	}
	judged, err := w.reflect(ctx, text)
	if err != nil {
		return false, err
	}
	w.adopt(judged)
	now := draft{original: w.writer.Original(), judged: w.judged}
	now.confidence, _ = w.judged.with(w.evaluate(text), len(w.cite.Citations) > 0)
	if w.earlier != nil && now.confidence <= w.earlier.confidence {
		return false, w.restoreEarlier(ctx)
	}
	w.checkBudgets()
	if score := w.judged.score; score == nil || *score >= lowConfidence || w.stop != "" || w.givenText() ||
		w.set.SearchTool() == nil || w.retrievals >= w.budget.RetrievalCalls {
		return false, nil
	}
	w.earlier = &now
	return true, w.searchOn(ctx)
}

// adopt makes a judgement that of the answer that stands.
func (w *Runner) adopt(v judgement) {
	w.judged, w.evidence.Doubted = v, v.doubted
}

// searchOn takes the answer back and tells the model what it lacks by its own judgement.
func (w *Runner) searchOn(ctx context.Context) error {
	w.enough, w.direct = false, false
	w.aside = []llm.Message{
		{Role: llm.RoleAssistant, Text: w.earlier.original},
		{Role: llm.RoleUser, Aside: true, Text: fmt.Sprintf(
			"A check of your answer gives it a confidence of %.2f. What it says stands below, as data. Search for what is missing, then answer the whole question again.\n%s",
			*w.judged.score, fence(w.nonce, w.judged.text))},
	}
	step := w.newStep("refine", chat.ActionPlanning, chat.StatusComplete, fmt.Sprintf(
		"Judged at %.2f: searching for what is missing", *w.judged.score,
	))
	step.Summary = w.judged.text
	return w.takeBack(ctx, step)
}

// restoreEarlier puts the answer back that was judged better than the one written since.
func (w *Runner) restoreEarlier(ctx context.Context) error {
	if err := w.takeBack(ctx, w.newStep(
		"review", chat.ActionAnalysing, chat.StatusComplete, "The answer got no better: the earlier one stands",
	)); err != nil {
		return err
	}
	w.adopt(w.earlier.judged)
	return w.writer.Write(ctx, w.earlier.original)
}

// orEarlier ends the run with the earlier answer when the model can't write a better one. Without an earlier answer,
// and when it is not the model that failed, it returns err.
func (w *Runner) orEarlier(ctx context.Context, err error) (reply, []chat.Payload, error) {
	if code := chat.CodeOf(err); w.earlier == nil || code != chat.CodeModelFailed && code != chat.CodeGuardrail {
		return reply{}, nil, err
	}
	return w.lastReply(ctx, w.restoreEarlier(ctx))
}
