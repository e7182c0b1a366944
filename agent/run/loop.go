package run

import (
	"context"
	"strings"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/llm"
)

// loop lets the model work until it answers, and returns what ends the run's log but for run_done. An error ends the
// run.
func (w *Runner) loop(ctx context.Context) ([]chat.Payload, error) {
	drive := w.cfg.Framework
	if drive == nil {
		drive = simple
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &rounds{w: w}
	err := drive(ctx, r.catalog())
	cancel()
	return r.close(err)
}

// next asks the model for a turn, and again until the reply has calls or its answer is good enough. With an answer, last
// holds the events that end the run's log.
func (w *Runner) next(ctx context.Context) (r reply, last []chat.Payload, err error) {
	for {
		if ok, err := w.quoteAgain(ctx); ok || err != nil {
			return w.lastReply(ctx, err)
		}
		w.checkBudgets()
		if w.badTurns > maxRepairs || w.cutTurns >= maxCuts {
			if _, err := w.rescue(ctx); err != nil {
				return reply{}, nil, err
			}
		}
		if err := w.makeRoom(ctx); err != nil {
			return reply{}, nil, err
		}
		aside := w.aside
		if r, err = w.turn(ctx); err != nil {
			return w.orEarlier(ctx, err)
		}
		if w.declined(r, aside) {
			continue
		}
		if answer, args, ok := w.finishAnswer(r); ok {
			if r, err = w.writeFinishAnswer(ctx, r, answer, args); err != nil {
				return reply{}, nil, err
			}
		}
		if len(r.calls) > 0 {
			return r, nil, nil
		}
		text, err := w.writer.Finish(ctx)
		if err != nil {
			return reply{}, nil, err
		}
		if r.finish == llm.FinishFilter || r.finish == llm.FinishRefusal {
			return w.orEarlier(ctx, &chat.Error{
				Code: chat.CodeGuardrail, Message: "The model's provider refused to answer this. Ask in other words.",
			})
		}
		again, err := w.review(ctx, r, text)
		if err != nil {
			return w.orEarlier(ctx, err)
		}
		if again {
			continue
		}
		if again, err = w.reconsider(ctx); err != nil {
			return reply{}, nil, err
		}
		if again {
			continue
		}
		if text, err = w.writer.Finish(ctx); err != nil {
			return reply{}, nil, err
		}
		last, err = w.conclusion(text, r.finish)
		return r, last, err
	}
}

// observe makes the calls of a turn and looks at what came of them.
func (w *Runner) observe(ctx context.Context, r reply) error {
	if w.first == nil && r.finish != llm.FinishLength {
		w.first = r.calls
	}
	if err := w.runCalls(ctx, r); err != nil {
		return err
	}
	if err := w.refine(ctx); err != nil {
		return err
	}
	if w.selection() != tools.SelectAuto || w.enough {
		return nil
	}
	_, err := w.stopEarly(ctx)
	return err
}

// lastReply returns the answer that was written, as the last reply of the run, unless writing it failed.
func (w *Runner) lastReply(ctx context.Context, err error) (reply, []chat.Payload, error) {
	if err != nil {
		return reply{}, nil, err
	}
	text, err := w.writer.Finish(ctx)
	if err != nil {
		return reply{}, nil, err
	}
	last, err := w.conclusion(text, llm.FinishStop)
	return reply{text: text, finish: llm.FinishStop}, last, err
}

// conclusion is what ends an answered run's log, but for run_done.
func (w *Runner) conclusion(text string, finish llm.Finish) ([]chat.Payload, error) {
	last := w.writer.Rest()
	if w.plan != nil {
		left, err := w.endPlan(text)
		if err != nil {
			return nil, err
		}
		last = append(last, left...)
	}
	return append(last, w.report(text, finish)...), nil
}

// checkBudgets decides whether a budget is spent, so that the next turn has to answer from what there is.
func (w *Runner) checkBudgets() {
	switch {
	case w.stop != "":
	case w.control.now.Err() != nil:
		w.stop = chat.StopAnswerNow
	case w.turns >= w.budget.Steps:
		w.stop = chat.StopMaxSteps
	case w.tokens.In+w.tokens.Out >= w.budget.Tokens:
		w.stop = chat.StopMaxTokens
	case w.badTurns > maxRepairs, w.cutTurns >= maxCuts:
		w.stop = chat.StopUnusableCalls
	case w.late():
		w.stop = chat.StopTimeout
	}
}

// Reviews of an answer that is not good enough yet. Each is made once in a run.
const (
	nudgeEmpty  = "Your reply was empty. Answer the question now, or call a tool."
	nudgeSearch = "You have not searched the documents. Search them before you answer; if they do not hold the answer, say so with the agreed sentence."
	nudgeTools  = "Nothing that your tools returned bears your answer out, and none of your tools searches documents. Say only what they returned, or begin with the agreed sentence."
	nudgeCite   = "Your answer has no footnotes. Write the same answer again and put the number n of the passage behind each claim, like [3]. Leave out what no passage supports."
)

// review looks at a finished reply. True means that the model has another try; what it said is taken back.
func (w *Runner) review(ctx context.Context, r reply, text string) (again bool, err error) {
	if strings.TrimSpace(text) == "" {
		if w.nudged[nudgeEmpty] {
			return true, w.fallBack(ctx, &llm.Error{Kind: llm.KindEmpty, Message: "the model's reply was empty"})
		}
		return true, w.askAgain(ctx, nudgeEmpty, "The model said nothing: asking again", r)
	}
	if w.direct && w.stop == "" && w.selection() != tools.SelectRules && (ground.IsRefusal(text) ||
		len(w.cite.Citations) == 0 && w.needsFootnotes() && !w.evidence.RestsOnContext(text) && !w.restsOnTools(text)) {
		w.direct, w.enough = false, false
		step := w.newStep(
			"choose", chat.ActionPlanning, chat.StatusComplete, "What rules chose did not suffice: the model chooses",
		)
		step.Details = map[string]any{"selection": w.selection(), "by": "model"}
		return true, w.takeBack(ctx, step)
	}
	if ground.IsRefusal(text) && !w.givenText() && w.asked.NeedsDocuments() && !w.searchedDocuments() {
		return false, w.reviewUnsearched(ctx)
	}
	if ground.IsRefusal(text) && !w.givenText() && w.onFallback && w.stop == chat.StopTimeout {
		return false, w.refuseInstead(ctx, "The time was used up before an answer: the refusal says so")
	}
	if ground.IsRefusal(text) && !w.onFallback && w.saysMore(text) {
		return false, w.refuseInstead(
			ctx, "What the model said besides the refusal was borne out by nothing: it says what was done instead",
		)
	}
	if w.givenText() || ground.IsRefusal(text) || w.onFallback || w.evidence.RestsOnContext(text) {
		return false, nil // the fallback cites what it takes from documents, and needs none for the rest
	}
	// another language has other words than the passages
	if len(w.cite.Citations) > 0 && w.asked.Reference != question.Rework {
		return w.validate(ctx, r, text)
	}
	if !w.needsFootnotes() || w.restsOnTools(text) {
		return false, nil
	}
	_, _, _, searches := w.toolContext.Sources.Readings()
	switch {
	case w.onlyRejectedCalls():
		return false, w.answerRejectedCalls(ctx)
	case !w.toolContext.Sources.IsEmpty():
		if w.nudged[nudgeCite] {
			return false, w.placeOrHoldBack(ctx, text)
		}
		return true, w.askAgain(ctx, nudgeCite, "The answer had no footnotes: asking for them", r)
	case w.set.SearchTool() == nil && w.stop == "" && !w.nudged[nudgeTools]:
		return true, w.askAgain(ctx, nudgeTools, "No tool bore the answer out: asking for one that they do", r)
	case w.set.SearchTool() != nil && searches == 0 && w.stop == "" && !w.nudged[nudgeSearch]:
		return true, w.askAgain(ctx, nudgeSearch, "Nothing was searched yet: asking the model to search", r)
	case searches == 0 && w.saidBefore(text):
		return false, nil // it answered from the conversation
	default:
		if searches == 0 {
			if rescued, err := w.rescue(ctx); rescued || err != nil {
				w.aside = nil
				return rescued, err
			}
			if w.set.SearchTool() == nil && len(w.evidence.FactualClaims(text)) > 0 {
				return false, w.holdBack(ctx)
			}
		}
		return false, w.refuseInstead(ctx, "The answer rested on no document: taken back")
	}
}

// saidBefore reports whether what was said in the conversation bears out each claim of an answer.
func (w *Runner) saidBefore(answer string) bool {
	said := strings.Join(w.conversation.evidence, "\n\n")
	if said == "" {
		return false
	}
	stated := w.evidence.FactualClaims(answer)
	for _, c := range stated {
		if !w.cite.Judge.Supports(c.Text, said) {
			return false
		}
	}
	return len(stated) > 0
}

// needsFootnotes reports whether the answer must rest on passages, or say what tools returned: not so for talk and
// sums.
func (w *Runner) needsFootnotes() bool { return w.mustCite() && w.asked.NeedsDocuments() }

// mustCite reports whether the answer needs footnotes.
func (w *Runner) mustCite() bool {
	c := w.run.Request.Config.RequireCitations
	return c == nil || *c
}

// askAgain takes the reply back and tells the model, for the next turn only, what is wrong with it.
func (w *Runner) askAgain(ctx context.Context, what, message string, r reply) error {
	w.nudged[what], w.enough = true, false
	step := w.newStep("review", chat.ActionAnalysing, chat.StatusComplete, message)
	w.aside = nil
	if said := strings.TrimSpace(r.text); said != "" {
		w.aside = append(w.aside, llm.Message{Role: llm.RoleAssistant, Text: said})
	}
	w.aside = append(w.aside, llm.Message{Role: llm.RoleUser, Aside: true, Text: what})
	return w.takeBack(ctx, step)
}

// takeBack moves the text that was shown into a step.
func (w *Runner) takeBack(ctx context.Context, step chat.Step) error {
	text, stored := w.writer.Reset()
	step.Thought = strings.TrimSpace(text)
	if stored {
		return w.emit(ctx, chat.AnswerReset{CallID: step.CallID}, step)
	}
	return w.emit(ctx, step)
}
