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

// reviewer decides whether an answer stands, is asked for again, or is replaced, and makes the run's last events.
type reviewer struct {
	*task
	log       *eventLog
	budget    *budget
	messages  *messages
	found     *findings
	model     *modelCaller
	plan      *plan
	calls     *toolCaller
	planner   *planner
	selector  *toolSelector
	check     *answerCheck
	evaluator *selfEvaluator

	judgement judgement // the model's, on the answer that stands
	earlier   *draft    // the best answer so far, while a better one is looked for
	denied    []string  // sentences about the run that its log denies, left out of the answer
	remedies  remedies
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
func (v *reviewer) reviewReply(ctx context.Context, r reply, text string) (again bool, err error) {
	if strings.TrimSpace(text) == "" || !v.model.isRuleBased() && v.needsFootnotes() &&
		saysNothing(text, v.run.Request.Message) {
		if v.remedies[nudgeEmpty] {
			return true, v.model.fallBack(ctx, &llm.Error{Kind: llm.KindEmpty, Message: "the model's reply was empty"})
		}
		return true, v.askAgain(ctx, nudgeEmpty, "The model said nothing: asking again", r)
	}
	if v.model.phase == answeringPreselected && !v.remedies[pipelineRun] && v.budget.stop == "" &&
		v.model.toolSelection() != tools.SelectRules &&
		(ground.IsRefusal(text) ||
			len(v.found.cite.Citations) == 0 && v.needsFootnotes() && !v.found.evidence.RestsOnContext(text) &&
				!v.found.restsOnTools(text)) {
		v.model.phase = gathering
		step := v.log.newStep(
			"choose", chat.ActionPlanning, chat.StatusComplete, "What rules chose did not suffice: the model chooses",
		)
		step.Details = map[string]any{"selection": v.model.toolSelection(), "by": "model"}
		v.messages.ephemeral = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: string(nudgeOther)}}
		return true, v.log.takeAnswerBack(ctx, step)
	}
	if ground.IsRefusal(text) && !v.givenText() && v.asked.NeedsDocuments() && !v.found.searchedDocuments() {
		if v.selector.first == nil { // it called nothing: rules search now
			if rescued, err := v.selector.fallBackToPipeline(ctx); rescued || err != nil {
				return rescued, err
			}
		}
		return false, v.rewriteUnsearchedRefusal(ctx)
	}
	if ground.IsRefusal(text) && !v.givenText() && v.model.isRuleBased() && v.budget.stop == chat.StopTimeout {
		return false, v.replaceByRefusal(ctx, "The time was used up before an answer: the refusal says so")
	}
	if ground.IsRefusal(text) && v.model.isSmall() && v.cfg.Fallback != nil && !v.toolContext.Sources.IsEmpty() {
		// it may have overlooked what its passages hold; quotes say themselves how near they are
		return true, v.model.quoteInstead(ctx, v.model.model.Name()+" found no answer: quoting what is nearest instead")
	}
	if v.givenText() || ground.IsRefusal(text) || v.model.isRuleBased() || v.found.evidence.RestsOnContext(text) {
		return false, nil // the fallback cites what it takes from documents, and needs none for the rest
	}
	// another language has other words than the passages
	if len(v.found.cite.Citations) > 0 && v.asked.Reference != question.Rework {
		return v.validateFootnotes(ctx, r, text)
	}
	if !v.needsFootnotes() || v.found.restsOnTools(text) {
		if v.asked.Reference == question.Rework && v.mustCite() { // with the footnotes of what was worked on
			_, err := v.rewriteWithFootnotes(ctx, text)
			return false, err
		}
		return false, nil
	}
	_, _, _, searches := v.toolContext.Sources.Readings()
	switch {
	case v.onlyRejectedCalls():
		return false, v.answerRejectedCalls(ctx)
	case !v.toolContext.Sources.IsEmpty():
		if ok, err := v.rewriteWithFootnotes(ctx, text); ok || err != nil {
			return false, err
		}
		if v.remedies[nudgeCite] {
			return v.holdBack(ctx)
		}
		return true, v.askAgain(ctx, nudgeCite, "The answer had no footnotes: asking for them", r)
	case v.set.SearchTool() == nil && v.budget.stop == "" && !v.remedies[nudgeTools]:
		return true, v.askAgain(ctx, nudgeTools, "No tool bore the answer out: asking for one that they do", r)
	case v.set.SearchTool() != nil && searches == 0 && v.budget.stop == "" && !v.remedies[nudgeSearch]:
		return true, v.askAgain(ctx, nudgeSearch, "Nothing was searched yet: asking the model to search", r)
	case searches == 0 && v.found.saidBefore(text):
		return false, nil // it answered from the conversation
	default:
		if searches == 0 {
			if rescued, err := v.selector.fallBackToPipeline(ctx); rescued || err != nil {
				v.messages.ephemeral = nil
				return rescued, err
			}
			if v.set.SearchTool() == nil && len(v.found.evidence.FactualClaims(text)) > 0 {
				return v.holdBack(ctx)
			}
		}
		return false, v.replaceByRefusal(ctx, "The answer rested on no document: taken back")
	}
}

// askAgain takes the reply back and tells the model, for the next turn only, what is wrong with it. Both the reply and
// the objection are for the next turn only: the history keeps no failed attempts, which models imitate.
func (v *reviewer) askAgain(ctx context.Context, what remedy, message string, r reply) error {
	v.remedies[what] = true
	if v.model.phase == answering {
		v.model.phase = gathering
	}
	step := v.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete, message)
	v.messages.ephemeral = nil
	if said := strings.TrimSpace(r.text); said != "" {
		v.messages.ephemeral = append(v.messages.ephemeral, llm.Message{Role: llm.RoleAssistant, Text: said})
	}
	v.messages.ephemeral = append(
		v.messages.ephemeral,
		llm.Message{Role: llm.RoleUser, Aside: true, Text: string(what)},
	)
	return v.log.takeAnswerBack(ctx, step)
}

// validateFootnotes looks at an answer whose footnotes can be checked. One without a single supported claim is written
// again once, then held back. One claim that may be a paraphrase of its passage is enough to let the answer stand: each
// sentence is then judged by itself in its evaluation.
func (v *reviewer) validateFootnotes(ctx context.Context, r reply, text string) (again bool, err error) {
	if !v.mustCite() {
		return false, nil
	}
	held := v.found.evidence.AnyResembles(text)
	if held && !v.model.isSmall() { // a small model writes right sentences and wrong numbers
		return false, nil
	}
	if ok, err := v.rewriteWithFootnotes(ctx, text); ok || held || err != nil {
		return false, err
	}
	if v.remedies[nudgeSupport] {
		return v.holdBack(ctx)
	}
	return true, v.askAgain(ctx, nudgeSupport, "No footnote held: asking for an answer from the passages", r)
}

// rewriteWithFootnotes adds footnotes to an answer when the model placed none, or none that holds: it marks each
// sentence that a passage supports. If fewer than half of the sentences that state something are supported, it does
// nothing and ok is false. The text that readers saw is taken back and written anew, so that stored events stay in
// order.
func (v *reviewer) rewriteWithFootnotes(ctx context.Context, answer string) (ok bool, err error) {
	marked, placed, stated := v.found.evidence.WithPlacedFootnotes(answer)
	if placed == 0 || 2*placed < stated {
		return false, nil
	}
	step := v.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete,
		"The model placed no footnote that holds: "+english.Count(placed, "sentence")+" of "+strconv.Itoa(
			stated,
		)+" got one from the passages")
	stray := v.found.cite.StrayNumbers
	if err := v.log.takeAnswerBack(ctx, step); err != nil {
		return false, err
	}
	v.found.cite.StrayNumbers = stray // the sentences are the model's, and so were the numbers that are left out
	return true, v.log.writer.Write(ctx, marked)
}

// holdBack takes an answer away from the reader. The documents are quoted instead, which again reports; without a
// fallback that quotes, the run ends. When a person kept calls from running, that is the answer instead.
func (v *reviewer) holdBack(ctx context.Context) (again bool, err error) {
	if len(v.calls.rejected) > 0 {
		return false, v.answerRejectedCalls(ctx)
	}
	if v.cfg.Fallback != nil && !v.model.isRuleBased() {
		return true, v.model.quoteInstead(
			ctx, "No claim of the answer could be verified: quoting the documents instead",
		)
	}
	step := v.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusError, "No claim of the answer could be verified: it was held back",
	)
	failed := &chat.Error{
		Code: chat.CodeGuardrail, Err: errUnsupported,
		Message: "An answer whose footnotes hold could not be written. Ask in other words, or about one thing at " +
			"a time.",
	}
	step.Error = &chat.StepError{Code: failed.Code, Message: failed.Message}
	if err := v.log.takeAnswerBack(ctx, step); err != nil {
		return false, err
	}
	return false, failed
}

// onlyRejectedCalls reports whether a reply has no footnotes because a person rejected calls. Then it is useless to ask
// for footnotes or to search. If the documents may answer the question as well, the run searches them once.
func (v *reviewer) onlyRejectedCalls() bool {
	for _, call := range v.calls.rejected {
		if call.hasSideEffects && v.toolContext.Sources.IsEmpty() || v.remedies[nudgeSearch] ||
			v.remedies[nudgeTools] ||
			v.budget.stop != "" {
			return true
		}
	}
	return false
}

// answerRejectedCalls puts in place of a reply that rests on nothing what is certain: that the calls were not made,
// and why.
func (v *reviewer) answerRejectedCalls(ctx context.Context) error {
	step := v.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusComplete,
		"The answer rested on no document: it says what was not done instead",
	)
	if err := v.log.takeAnswerBack(ctx, step); err != nil {
		return err
	}
	v.check.author = reportOfRejected
	var said []string
	for _, call := range v.calls.rejected {
		said = append(said, "“"+call.message+"” was not done"+call.why.because+".")
	}
	return v.log.writer.Write(ctx, strings.Join(said, " "))
}

// writeFinishAnswer shows the answer that a call holds as if the model had written it; what it wrote before the call
// was a thought. It is the tool finish, which ends a run by a call; the call and its end are stored at once.
func (v *reviewer) writeFinishAnswer(ctx context.Context, r reply, answer string, args json.RawMessage) (reply, error) {
	name := strings.TrimSpace(r.calls[0].Name)
	step := v.log.newStep(name, chat.ActionThinking, chat.StatusRunning, "Finishing with an answer")
	step.ToolName, step.ToolInput, step.Tokens, step.Cost = name, args, &r.tokens, r.cost
	said, stored := v.log.writer.Reset()
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
	if err := v.log.emitEvents(ctx, append(ps, step, done)...); err != nil {
		return r, err
	}
	r.calls, r.text = nil, answer
	return r, v.log.writer.Write(ctx, answer)
}
