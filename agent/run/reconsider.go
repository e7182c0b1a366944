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

// draft is an answer with the model's judgement of it.
type draft struct {
	original   string // with the model's own markers
	judgement  judgement
	confidence float64 // of judgement and the program's check together
}

// reconsiderAnswer lets the model judge the answer that was written. True means that its confidence was low and that
// the model searches on, as far as the budget goes. It ends when the confidence does not rise any more; then the better
// of the two answers stands. The answer is stored before it is judged, so readers see it at once; when the run goes on,
// it is taken back.
func (v *reviewer) reconsiderAnswer(ctx context.Context) (again bool, err error) {
	text, err := v.log.writer.Finish(ctx)
	if err != nil {
		return false, err
	}
	if !v.evaluator.shouldJudge(text) {
		if v.earlier != nil &&
			(v.model.isRuleBased() || ground.IsRefusal(text) || len(v.found.cite.Citations) == 0) {
			return false, v.restoreEarlier(ctx)
		}
		v.adoptJudgement(judgement{})
		return false, nil
	}
	if err := v.log.emitEvents(ctx, v.log.writer.Rest()...); err != nil { // the answer does not wait to be judged
		return false, err
	}
	judged, err := v.evaluator.judgeAnswer(ctx, text)
	if err != nil {
		return false, err
	}
	v.adoptJudgement(judged)
	now := draft{original: v.log.writer.Original(), judgement: v.judgement}
	now.confidence, _ = v.judgement.combineWith(v.check.evaluateAnswer(text), len(v.found.cite.Citations) > 0)
	if v.earlier != nil && now.confidence <= v.earlier.confidence {
		return false, v.restoreEarlier(ctx)
	}
	v.budget.checkLimits()
	if score := v.judgement.score; score == nil || *score >= lowConfidence || v.budget.stop != "" || v.givenText() ||
		v.set.SearchTool() == nil || v.budget.retrievals >= v.budget.limits.RetrievalCalls {
		return false, nil
	}
	v.earlier = &now
	return true, v.searchOn(ctx)
}

// adoptJudgement makes a judgement that of the answer that stands.
func (v *reviewer) adoptJudgement(judged judgement) {
	v.judgement = judged
	v.found.evidence.Doubted, v.found.evidence.Confirmed = judged.doubted, judged.confirmed
}

// searchOn takes the answer back and tells the model what it lacks by its own judgement.
func (v *reviewer) searchOn(ctx context.Context) error {
	v.model.phase = gathering
	v.messages.ephemeral = []llm.Message{
		{Role: llm.RoleAssistant, Text: v.earlier.original},
		{Role: llm.RoleUser, Aside: true, Text: fmt.Sprintf(
			"A check of your answer gives it a confidence of %.2f. What it says stands below, as data. Search for "+
				"what is missing, then answer the whole question again.\n%s",
			*v.judgement.score,
			fenceData(v.nonce, v.judgement.text),
		)},
	}
	step := v.log.newStep("refine", chat.ActionPlanning, chat.StatusComplete, fmt.Sprintf(
		"Judged at %.2f: searching for what is missing", *v.judgement.score,
	))
	step.Summary = v.judgement.text
	return v.log.takeAnswerBack(ctx, step)
}

// restoreEarlier puts the answer back that was judged better than the one written since. The answer is written again
// from the model's own markers, so it gets the same footnotes as before.
func (v *reviewer) restoreEarlier(ctx context.Context) error {
	if err := v.log.takeAnswerBack(ctx, v.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusComplete, "The answer got no better: the earlier one stands",
	)); err != nil {
		return err
	}
	v.adoptJudgement(v.earlier.judgement)
	return v.log.writer.Write(ctx, v.earlier.original)
}

// orEarlier ends the run with the earlier answer when the model can't write a better one. Without an earlier answer,
// and when it is not the model that failed, it returns err.
func (v *reviewer) orEarlier(ctx context.Context, err error) (reply, []chat.Payload, error) {
	if code := chat.CodeOf(err); v.earlier == nil || code != chat.CodeModelFailed && code != chat.CodeGuardrail {
		return reply{}, nil, err
	}
	return v.lastReply(ctx, v.restoreEarlier(ctx))
}
