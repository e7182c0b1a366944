package run

import (
	"context"
	"strings"
	"time"

	"footnote/agent/ground"
	"footnote/chat"
	"footnote/english"
	"footnote/llm"
)

// lastReply returns the answer that was written, as the last reply of the run, unless writing it failed.
func (w *Runner) lastReply(ctx context.Context, err error) (reply, []chat.Payload, error) {
	if err != nil {
		return reply{}, nil, err
	}
	text, err := w.finishAnswer(ctx)
	if err != nil {
		return reply{}, nil, err
	}
	last, err := w.lastEvents(text, llm.FinishStop)
	return reply{text: text, finish: llm.FinishStop}, last, err
}

// finishAnswer returns the answer that stands, without what it says of the run that the run's log denies: a model that
// read two files may say that it searched the web and read fourteen. When nothing else is left, the answer is the
// refusal sentence, which the program writes from the log.
func (w *Runner) finishAnswer(ctx context.Context) (string, error) {
	text, err := w.log.writer.Finish(ctx)
	if err == nil && ground.IsRefusal(text) {
		return w.explainInRefusal(ctx, text)
	}
	if err != nil || w.model.isRuleBased() {
		return text, err
	}
	left, denied := w.evidence.WithoutDenied(text)
	if len(denied) == 0 {
		return text, nil
	}
	w.review.denied = denied
	if ground.CountContentWords(left) == 0 {
		if err := w.replaceByRefusal(ctx, "The answer only said what the run did not do: taken back"); err != nil {
			return "", err
		}
		return w.explainInRefusal(ctx, ground.RefusalSentence)
	}
	step := w.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete,
		"Left out "+english.Count(len(denied), "sentence")+" about the run that its log does not hold")
	step.Summary = strings.Join(denied, " ")
	stray := w.cite.StrayNumbers
	if err := w.log.takeAnswerBack(ctx, step); err != nil {
		return "", err
	}
	w.cite.StrayNumbers = stray
	if err := w.log.writer.Write(ctx, left); err != nil {
		return "", err
	}
	return w.log.writer.Finish(ctx)
}

// lastEvents is what ends an answered run's log, but for run_done.
func (w *Runner) lastEvents(text string, finish llm.Finish) ([]chat.Payload, error) {
	last := w.log.writer.Rest()
	if w.plan.hasParts() {
		left, err := w.endPlan(text)
		if err != nil {
			return nil, err
		}
		last = append(last, left...)
	}
	return append(last, w.answerEvents(text, finish)...), nil
}

// answerEvents makes the events that end an answered run, but for run_done. A refusal has no citations and no
// confidence; its sources are the documents that were read. What the offline model knows about its quotes (llm.Found)
// lowers the confidence and names the kind of finding.
func (w *Runner) answerEvents(markdown string, finish llm.Finish) []chat.Payload {
	var ps []chat.Payload
	if finish == llm.FinishLength {
		ps = append(ps, w.log.newStep(
			"length", chat.ActionThinking, chat.StatusError,
			"The model's answer was cut at its length limit. Ask for a shorter one, or for the rest",
		))
	}
	stop := w.budget.stop
	if stop == "" {
		stop = chat.StopAnswered
	}
	a := chat.Answer{
		Markdown: markdown, Citations: append([]chat.Citation{}, w.cite.Citations...), Unsupported: []string{},
		Coverage:  w.searchCoverage(),
		StepsUsed: w.budget.turns, Tokens: w.budget.tokens, Cost: w.budget.cost,
		LatencyMS:  time.Since(w.budget.begun).Milliseconds(),
		StopReason: stop,
	}
	if ground.IsRefusal(markdown) {
		a.StopReason, a.Citations, a.Sources = chat.StopRefused, []chat.Citation{}, w.sourcesOf(nil)
		a.SelfEvaluation, a.Notes = w.explainRefusal(), w.cite.StrayNotes()
		return append(ps, a)
	}
	a.Sources = w.sourcesOf(a.Citations)
	found := w.evaluateAnswer(markdown)
	a.Unsupported = found.unsupported
	a.Confidence, a.SelfEvaluation = w.review.judgement.combineWith(found, len(a.Citations) > 0)
	if q := w.model.quoted; q != nil {
		a.Confidence, a.Finding = min(a.Confidence, q.Sure), chat.FindingClosest
		if q.Likely {
			a.Finding = chat.FindingFound
		}
	}
	if e := w.run.Request.Config.EnableSelfEvaluation; e != nil && !*e {
		a.SelfEvaluation = ""
	}
	a.Notes = append(w.cite.StrayNotes(), w.sumNotes(a.Unsupported)...)
	for _, said := range w.review.denied {
		a.Notes = append(a.Notes, "Left out, for the run did no such thing: “"+said+"”")
	}
	w.rememberDecision(a)
	a.FollowUps = ground.FollowUps(w.toolContext.Sources.All(), w.cite.SourceNumbers, w.run.Request.Message)
	return append(ps, a)
}
