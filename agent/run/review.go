package run

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/english"
	"footnote/llm"
)

// review is what is known of the answer that stands.
type review struct {
	author    author
	judgement judgement // the model's
	earlier   *draft    // the best answer so far, while a better one is looked for
	denied    []string  // sentences about the run that its log denies, left out of the answer
}

// Reviews of an answer that is not good enough yet. Each is made once in a run.
const (
	nudgeEmpty  remedy = "Your reply was empty. Answer the question now, or call a tool."
	nudgeSearch remedy = "You have not searched the documents. Search them before you answer; if they do not hold " +
		"the answer, say so with the agreed sentence."
	nudgeTools remedy = "Nothing that your tools returned bears your answer out, and none of your tools searches " +
		"documents. Say only what they returned, or begin with the agreed sentence."
	nudgeCite remedy = "Your answer has no footnotes. Write the same answer again and put the number n of the " +
		"passage behind each claim, like [3]. Leave out what no passage supports."
)

// nudgeOther goes with what rules chose: the same request again would have the same answer.
const nudgeOther remedy = "The passages above may not hold the answer. Search in other words, or read on where they " +
	"stand, then answer."

const nudgeSupport remedy = "None of your sentences is supported by the passages behind its footnotes. Write the " +
	"answer again from the words of the passages alone, " +
	"with the right number behind each claim. If the passages do not hold the answer, begin with the agreed sentence " +
	"instead."

// errUnsupported is why an answer is held back: nothing in it rests on the documents.
var errUnsupported = errors.New("no claim of the answer is supported")

// reviewReply looks at a finished reply. True means that the model has another try; what it said is taken back. The
// order of the checks matters: an empty reply before a refusal, a refusal before its footnotes, what a person rejected
// before a further search. Each retry is remembered in remedies, so a model that repeats itself ends the loop.
func (w *Runner) reviewReply(ctx context.Context, r reply, text string) (again bool, err error) {
	if strings.TrimSpace(text) == "" || !w.model.isRuleBased() && w.needsFootnotes() &&
		saysNothing(text, w.run.Request.Message) {
		if w.remedies[nudgeEmpty] {
			return true, w.model.fallBack(ctx, &llm.Error{Kind: llm.KindEmpty, Message: "the model's reply was empty"})
		}
		return true, w.askAgain(ctx, nudgeEmpty, "The model said nothing: asking again", r)
	}
	if w.phase == answeringPreselected && !w.remedies[pipelineRun] && w.budget.stop == "" &&
		w.model.toolSelection() != tools.SelectRules &&
		(ground.IsRefusal(text) ||
			len(w.cite.Citations) == 0 && w.needsFootnotes() && !w.evidence.RestsOnContext(text) &&
				!w.restsOnTools(text)) {
		w.phase = gathering
		step := w.log.newStep(
			"choose", chat.ActionPlanning, chat.StatusComplete, "What rules chose did not suffice: the model chooses",
		)
		step.Details = map[string]any{"selection": w.model.toolSelection(), "by": "model"}
		w.messages.ephemeral = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: string(nudgeOther)}}
		return true, w.log.takeAnswerBack(ctx, step)
	}
	if ground.IsRefusal(text) && !w.givenText() && w.asked.NeedsDocuments() && !w.searchedDocuments() {
		if w.firstCalls == nil { // it called nothing: rules search now
			if rescued, err := w.fallBackToPipeline(ctx); rescued || err != nil {
				return rescued, err
			}
		}
		return false, w.rewriteUnsearchedRefusal(ctx)
	}
	if ground.IsRefusal(text) && !w.givenText() && w.model.isRuleBased() && w.budget.stop == chat.StopTimeout {
		return false, w.replaceByRefusal(ctx, "The time was used up before an answer: the refusal says so")
	}
	if ground.IsRefusal(text) && w.model.isSmall() && w.cfg.Fallback != nil && !w.toolContext.Sources.IsEmpty() {
		// it may have overlooked what its passages hold; quotes say themselves how near they are
		return true, w.model.quoteInstead(ctx, w.model.model.Name()+" found no answer: quoting what is nearest instead")
	}
	if w.givenText() || ground.IsRefusal(text) || w.model.isRuleBased() || w.evidence.RestsOnContext(text) {
		return false, nil // the fallback cites what it takes from documents, and needs none for the rest
	}
	// another language has other words than the passages
	if len(w.cite.Citations) > 0 && w.asked.Reference != question.Rework {
		return w.validateFootnotes(ctx, r, text)
	}
	if !w.needsFootnotes() || w.restsOnTools(text) {
		if w.asked.Reference == question.Rework && w.mustCite() { // with the footnotes of what was worked on
			_, err := w.rewriteWithFootnotes(ctx, text)
			return false, err
		}
		return false, nil
	}
	_, _, _, searches := w.toolContext.Sources.Readings()
	switch {
	case w.onlyRejectedCalls():
		return false, w.answerRejectedCalls(ctx)
	case !w.toolContext.Sources.IsEmpty():
		if ok, err := w.rewriteWithFootnotes(ctx, text); ok || err != nil {
			return false, err
		}
		if w.remedies[nudgeCite] {
			return w.holdBack(ctx)
		}
		return true, w.askAgain(ctx, nudgeCite, "The answer had no footnotes: asking for them", r)
	case w.set.SearchTool() == nil && w.budget.stop == "" && !w.remedies[nudgeTools]:
		return true, w.askAgain(ctx, nudgeTools, "No tool bore the answer out: asking for one that they do", r)
	case w.set.SearchTool() != nil && searches == 0 && w.budget.stop == "" && !w.remedies[nudgeSearch]:
		return true, w.askAgain(ctx, nudgeSearch, "Nothing was searched yet: asking the model to search", r)
	case searches == 0 && w.saidBefore(text):
		return false, nil // it answered from the conversation
	default:
		if searches == 0 {
			if rescued, err := w.fallBackToPipeline(ctx); rescued || err != nil {
				w.messages.ephemeral = nil
				return rescued, err
			}
			if w.set.SearchTool() == nil && len(w.evidence.FactualClaims(text)) > 0 {
				return w.holdBack(ctx)
			}
		}
		return false, w.replaceByRefusal(ctx, "The answer rested on no document: taken back")
	}
}

// askAgain takes the reply back and tells the model, for the next turn only, what is wrong with it. Both the reply and
// the objection are for the next turn only: the history keeps no failed attempts, which models imitate.
func (w *Runner) askAgain(ctx context.Context, what remedy, message string, r reply) error {
	w.remedies[what] = true
	if w.phase == answering {
		w.phase = gathering
	}
	step := w.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete, message)
	w.messages.ephemeral = nil
	if said := strings.TrimSpace(r.text); said != "" {
		w.messages.ephemeral = append(w.messages.ephemeral, llm.Message{Role: llm.RoleAssistant, Text: said})
	}
	w.messages.ephemeral = append(
		w.messages.ephemeral,
		llm.Message{Role: llm.RoleUser, Aside: true, Text: string(what)},
	)
	return w.log.takeAnswerBack(ctx, step)
}

// validateFootnotes looks at an answer whose footnotes can be checked. One without a single supported claim is written
// again once, then held back. One claim that may be a paraphrase of its passage is enough to let the answer stand: each
// sentence is then judged by itself in its evaluation.
func (w *Runner) validateFootnotes(ctx context.Context, r reply, text string) (again bool, err error) {
	if !w.mustCite() {
		return false, nil
	}
	held := w.evidence.AnyResembles(text)
	if held && !w.model.isSmall() { // a small model writes right sentences and wrong numbers
		return false, nil
	}
	if ok, err := w.rewriteWithFootnotes(ctx, text); ok || held || err != nil {
		return false, err
	}
	if w.remedies[nudgeSupport] {
		return w.holdBack(ctx)
	}
	return true, w.askAgain(ctx, nudgeSupport, "No footnote held: asking for an answer from the passages", r)
}

// rewriteWithFootnotes adds footnotes to an answer when the model placed none, or none that holds: it marks each
// sentence that a passage supports. If fewer than half of the sentences that state something are supported, it does
// nothing and ok is false. The text that readers saw is taken back and written anew, so that stored events stay in
// order.
func (w *Runner) rewriteWithFootnotes(ctx context.Context, answer string) (ok bool, err error) {
	marked, placed, stated := w.evidence.WithPlacedFootnotes(answer)
	if placed == 0 || 2*placed < stated {
		return false, nil
	}
	step := w.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete,
		"The model placed no footnote that holds: "+english.Count(placed, "sentence")+" of "+strconv.Itoa(
			stated,
		)+" got one from the passages")
	stray := w.cite.StrayNumbers
	if err := w.log.takeAnswerBack(ctx, step); err != nil {
		return false, err
	}
	w.cite.StrayNumbers = stray // the sentences are the model's, and so were the numbers that are left out
	return true, w.log.writer.Write(ctx, marked)
}

// holdBack takes an answer away from the reader. The documents are quoted instead, which again reports; without a
// fallback that quotes, the run ends. When a person kept calls from running, that is the answer instead.
func (w *Runner) holdBack(ctx context.Context) (again bool, err error) {
	if len(w.calls.rejected) > 0 {
		return false, w.answerRejectedCalls(ctx)
	}
	if w.cfg.Fallback != nil && !w.model.isRuleBased() {
		return true, w.model.quoteInstead(
			ctx, "No claim of the answer could be verified: quoting the documents instead",
		)
	}
	step := w.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusError, "No claim of the answer could be verified: it was held back",
	)
	failed := &chat.Error{
		Code: chat.CodeGuardrail, Err: errUnsupported,
		Message: "An answer whose footnotes hold could not be written. Ask in other words, or about one thing at " +
			"a time.",
	}
	step.Error = &chat.StepError{Code: failed.Code, Message: failed.Message}
	if err := w.log.takeAnswerBack(ctx, step); err != nil {
		return false, err
	}
	return false, failed
}

// onlyRejectedCalls reports whether a reply has no footnotes because a person rejected calls. Then it is useless to ask
// for footnotes or to search. If the documents may answer the question as well, the run searches them once.
func (w *Runner) onlyRejectedCalls() bool {
	for _, call := range w.calls.rejected {
		if call.hasSideEffects && w.toolContext.Sources.IsEmpty() || w.remedies[nudgeSearch] ||
			w.remedies[nudgeTools] ||
			w.budget.stop != "" {
			return true
		}
	}
	return false
}

// answerRejectedCalls puts in place of a reply that rests on nothing what is certain: that the calls were not made,
// and why.
func (w *Runner) answerRejectedCalls(ctx context.Context) error {
	step := w.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusComplete,
		"The answer rested on no document: it says what was not done instead",
	)
	if err := w.log.takeAnswerBack(ctx, step); err != nil {
		return err
	}
	w.review.author = reportOfRejected
	var said []string
	for _, call := range w.calls.rejected {
		said = append(said, "“"+call.message+"” was not done"+call.why.because+".")
	}
	return w.log.writer.Write(ctx, strings.Join(said, " "))
}

// writeFinishAnswer shows the answer that a call holds as if the model had written it; what it wrote before the call
// was a thought. It is the tool finish, which ends a run by a call; the call and its end are stored at once.
func (w *Runner) writeFinishAnswer(ctx context.Context, r reply, answer string, args json.RawMessage) (reply, error) {
	name := strings.TrimSpace(r.calls[0].Name)
	step := w.log.newStep(name, chat.ActionThinking, chat.StatusRunning, "Finishing with an answer")
	step.ToolName, step.ToolInput, step.Tokens, step.Cost = name, args, &r.tokens, r.cost
	said, stored := w.log.writer.Reset()
	step.Thought = strings.TrimSpace(said)
	var ps []chat.Payload
	if stored {
		ps = append(ps, chat.AnswerReset{CallID: step.CallID})
	}
	done := step
	done.Status, done.ToolStatus, done.Message = chat.StatusComplete, chat.StatusComplete, "Finished with an answer"
	done.ToolOutput = json.RawMessage(`{"finished":true}`)
	done.OutputSize = len(done.ToolOutput)
	done.Result = &chat.StepResult{Facts: []chat.Fact{{Name: "finished", Value: "true"}}}
	if err := w.log.emitEvents(ctx, append(ps, step, done)...); err != nil {
		return r, err
	}
	r.calls, r.text = nil, answer
	return r, w.log.writer.Write(ctx, answer)
}
