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
func (v *reviewer) lastReply(ctx context.Context, err error) (reply, []chat.Payload, error) {
	if err != nil {
		return reply{}, nil, err
	}
	text, err := v.finishAnswer(ctx)
	if err != nil {
		return reply{}, nil, err
	}
	last, err := v.lastEvents(text, llm.FinishStop)
	return reply{text: text, finish: llm.FinishStop}, last, err
}

// finishAnswer returns the answer that stands, without what it says of the run that the run's log denies: a model that
// read two files may say that it searched the web and read fourteen. When nothing else is left, the answer is the
// refusal sentence, which the program writes from the log.
func (v *reviewer) finishAnswer(ctx context.Context) (string, error) {
	text, err := v.log.writer.Finish(ctx)
	if err == nil && ground.IsRefusal(text) {
		return v.explainInRefusal(ctx, text)
	}
	if err != nil || v.model.isRuleBased() {
		return text, err
	}
	left, denied := v.found.evidence.WithoutDenied(text)
	if len(denied) == 0 {
		return text, nil
	}
	v.denied = denied
	if ground.CountContentWords(left) == 0 {
		if err := v.replaceByRefusal(ctx, "The answer only said what the run did not do: taken back"); err != nil {
			return "", err
		}
		return v.explainInRefusal(ctx, ground.RefusalSentence)
	}
	step := v.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete,
		"Left out "+english.Count(len(denied), "sentence")+" about the run that its log does not hold")
	step.Summary = strings.Join(denied, " ")
	stray := v.found.cite.StrayNumbers
	if err := v.log.takeAnswerBack(ctx, step); err != nil {
		return "", err
	}
	v.found.cite.StrayNumbers = stray
	if err := v.log.writer.Write(ctx, left); err != nil {
		return "", err
	}
	return v.log.writer.Finish(ctx)
}

// lastEvents is what ends an answered run's log, but for run_done.
func (v *reviewer) lastEvents(text string, finish llm.Finish) ([]chat.Payload, error) {
	last := v.log.writer.Rest()
	if v.plan.hasParts() {
		left, err := v.planner.endPlan(text)
		if err != nil {
			return nil, err
		}
		last = append(last, left...)
	}
	return append(last, v.answerEvents(text, finish)...), nil
}

// answerEvents makes the events that end an answered run, but for run_done. A refusal has no citations and no
// confidence; its sources are the documents that were read. What the offline model knows about its quotes (llm.Found)
// lowers the confidence and names the kind of finding.
func (v *reviewer) answerEvents(markdown string, finish llm.Finish) []chat.Payload {
	var ps []chat.Payload
	if finish == llm.FinishLength {
		ps = append(ps, v.log.newStep(
			"length", chat.ActionThinking, chat.StatusError,
			"The model's answer was cut at its length limit. Ask for a shorter one, or for the rest",
		))
	}
	stop := v.budget.stop
	if stop == "" {
		stop = chat.StopAnswered
	}
	a := chat.Answer{
		Markdown: markdown, Citations: append([]chat.Citation{}, v.found.cite.Citations...), Unsupported: []string{},
		Coverage:  v.check.searchCoverage(),
		StepsUsed: v.budget.turns, Tokens: v.budget.tokens, Cost: v.budget.cost,
		LatencyMS:  time.Since(v.budget.begun).Milliseconds(),
		StopReason: stop,
	}
	if ground.IsRefusal(markdown) {
		a.StopReason, a.Citations, a.Sources = chat.StopRefused, []chat.Citation{}, v.found.sourcesOf(nil)
		a.SelfEvaluation, a.Notes = v.found.explainRefusal(), v.found.cite.StrayNotes()
		return append(ps, a)
	}
	a.Sources = v.found.sourcesOf(a.Citations)
	found := v.check.evaluateAnswer(markdown)
	a.Unsupported = found.unsupported
	a.Confidence, a.SelfEvaluation = v.judgement.combineWith(found, len(a.Citations) > 0)
	if q := v.model.quoted; q != nil {
		a.Confidence, a.Finding = min(a.Confidence, q.Sure), chat.FindingClosest
		if q.Likely {
			a.Finding = chat.FindingFound
		}
	}
	if e := v.run.Request.Config.EnableSelfEvaluation; e != nil && !*e {
		a.SelfEvaluation = ""
	}
	a.Notes = append(v.found.cite.StrayNotes(), v.found.sumNotes(a.Unsupported)...)
	for _, said := range v.denied {
		a.Notes = append(a.Notes, "Left out, for the run did no such thing: “"+said+"”")
	}
	v.selector.rememberDecision(a)
	a.FollowUps = ground.FollowUps(v.toolContext.Sources.All(), v.found.cite.SourceNumbers, v.run.Request.Message)
	return append(ps, a)
}
