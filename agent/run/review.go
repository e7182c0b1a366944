package run

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// review is what is known of the answer that stands. Nothing of it is restored after a restart: an answer that was not
// stored is written again.
type review struct {
	author    author
	judgement judgement // the model's
	earlier   *draft    // the best answer so far, while a better one is looked for
}

// Reviews of an answer that is not good enough yet, as the model is told them. Each is made once in a run: a model that
// does the same again is not asked a third time, but held back or replaced.
const (
	nudgeEmpty  remedy = "Your reply was empty. Answer the question now, or call a tool."
	nudgeSearch remedy = "You have not searched the documents. Search them before you answer; if they do not hold " +
		"the answer, say so with the agreed sentence."
	nudgeTools remedy = "Nothing that your tools returned bears your answer out, and none of your tools searches " +
		"documents. Say only what they returned, or begin with the agreed sentence."
	nudgeCite remedy = "Your answer has no footnotes. Write the same answer again and put the number n of the " +
		"passage behind each claim, like [3]. Leave out what no passage supports."
)

// nudgeOther goes with what rules chose: the same request again would have the same answer. It is said once, since
// rules choose once.
const nudgeOther remedy = "The passages above may not hold the answer. Search in other words, or read on where they " +
	"stand, then answer."

const nudgeSupport remedy = "None of your sentences is supported by the passages behind its footnotes. Write the " +
	"answer again from the words of the passages alone, " +
	"with the right number behind each claim. If the passages do not hold the answer, begin with the agreed sentence " +
	"instead."

// reviewReply looks at a finished reply. True means that the model has another try; what it said is taken back. The
// order of the checks matters: an empty reply before a refusal, a refusal before its footnotes, what a person rejected
// before a further search. Each retry is remembered in remedies, so a model that repeats itself ends the loop.
func (w *Runner) reviewReply(ctx context.Context, r reply, text string) (again bool, err error) {
	if err := w.acceptUnsearched(ctx, text); err != nil {
		return false, err
	}
	if strings.TrimSpace(text) == "" || !w.model.isRuleBased() && w.needsFootnotes() &&
		saysNothing(text, w.run.Request.Message) {
		if w.remedies[nudgeEmpty] {
			return true, w.model.fallBack(ctx, &llm.Error{Kind: llm.KindEmpty, Message: "the model's reply was empty"})
		}
		return true, w.askAgain(ctx, nudgeEmpty, "The model said nothing: asking again", r)
	}
	// rules chose what it answers from, and that did not suffice: the model chooses for itself now
	if w.phase.isChosen() && !w.remedies[pipelineRun] && w.budget.stop == "" &&
		w.model.toolSelection() != tools.SelectRules &&
		(cite.IsRefusal(text) ||
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
	// a refusal says something about the documents, so they have to have been searched
	if cite.IsRefusal(text) && !w.givenText() && w.asked.NeedsDocuments() && !w.searchedDocuments() {
		if w.firstCalls == nil { // it called nothing: rules search now
			if rescued, err := w.fallBackToPipeline(ctx); rescued || err != nil {
				return rescued, err
			}
		}
		return false, w.rewriteUnsearchedRefusal(ctx)
	}
	if cite.IsRefusal(text) && !w.givenText() && w.model.isRuleBased() && w.budget.stop == chat.StopTimeout {
		return false, w.replaceByRefusal(ctx, "The time was used up before an answer: the refusal says so")
	}
	if cite.IsRefusal(text) && w.model.isSmall() && w.cfg.Fallback != nil && !w.toolContext.Sources.IsEmpty() {
		// it may have overlooked what its passages hold; quotes say themselves how near they are
		return true, w.model.quoteInstead(ctx, w.model.model.Name()+" found no answer: quoting what is nearest instead")
	}
	// from here on the answer is one that a language model took, or should have taken, from documents
	if w.givenText() || cite.IsRefusal(text) || w.model.isRuleBased() || w.evidence.RestsOnContext(text) {
		return false, nil // the fallback cites what it takes from documents, and needs none for the rest
	}
	// another language has other words than the passages
	if w.cite.ByModel() > 0 && w.asked.Reference != question.Rework {
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
		// before it is asked again: many models never write a number, and a turn of a small one takes a minute
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
// the objection are for the next turn only: the history keeps no failed attempts, which models imitate. A model that
// rules have chosen for stays at answering: it gets no tools for this.
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
// order. Half was decided with the measure of a sentence, 70 % (docs/decisions/support.md).
func (w *Runner) rewriteWithFootnotes(ctx context.Context, answer string) (ok bool, err error) {
	marked, placed, stated := w.evidence.WithPlacedFootnotes(answer)
	if placed == 0 || 2*placed < stated {
		return false, nil
	}
	if w.cite.ByModel() == 0 && w.evidence.CountCited(answer) >= placed {
		return true, nil
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
	return true, w.log.writer.WriteAdded(ctx, marked)
}

// lastReply returns the answer that was written, as the last reply of the run, unless writing it failed. It is for
// answers that the program wrote or put back, which are not reviewed.
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

// finishAnswer returns the final answer. A bare refusal is extended by the searches of the run.
func (w *Runner) finishAnswer(ctx context.Context) (string, error) {
	text, err := w.log.writer.Finish(ctx)
	if err == nil && cite.IsRefusal(text) {
		return w.explainInRefusal(ctx, text)
	}
	return text, err
}

// lastEvents is what ends an answered run's log, but for run_done. They are stored together with run_done, so that no
// reader sees an answer whose run seems to go on.
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
// lowers the confidence and names the kind of finding. It stores nothing, and remembers the choice of tools that led
// here.
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
	var cut []string
	if finish == llm.FinishLength {
		stop, cut = chat.StopLength, []string{
			"The model's answer was cut at its length limit. Ask for a shorter one, or for the rest.",
		}
	}
	a := chat.Answer{
		Markdown: markdown, Citations: append([]chat.Citation{}, w.cite.Citations...), Unsupported: []string{},
		Coverage:  w.searchCoverage(),
		StepsUsed: w.budget.turns, Tokens: w.budget.tokens, Cost: w.budget.cost,
		LatencyMS:  time.Since(w.budget.begun).Milliseconds(),
		StopReason: stop,
	}
	if w.calls.unchecked {
		cut = append(cut, "The language model could not check the passages, so rules decide what was found.")
	}
	if cite.IsRefusal(markdown) {
		if note := w.budget.spentNote(); note != "" { // the reason to stop does not say it
			cut = append(cut, note)
		}
		a.StopReason, a.Citations, a.Sources = chat.StopRefused, []chat.Citation{}, w.sourcesOf(nil)
		a.SelfEvaluation, a.Notes = w.explainRefusal(), append(cut, w.cite.StrayNotes()...)
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
	a.Notes = append(append(cut, w.cite.StrayNotes()...), w.sumNotes(a.Unsupported)...)
	if !w.model.isRuleBased() {
		for _, said := range w.evidence.Denied(markdown) {
			a.Notes = append(a.Notes, "The run did no such thing: “"+said+"”")
		}
	}
	w.rememberDecision(a)
	a.FollowUps = cite.FollowUps(w.toolContext.Sources.All(), w.cite.SourceNumbers, w.run.Request.Message)
	return append(ps, a)
}

// explainRefusal says of a refusal what it rests on. It is the self-evaluation of a refusal: only a completed search
// makes “nothing was found” a statement about the documents. A given text needs no search: it was read whole.
func (k *knowledge) explainRefusal() string {
	if !k.givenText() && !k.searchedDocuments() {
		return "Whether the documents answer this is not known: no search in them was completed."
	}
	return "Nothing that was found answers this."
}

// rewriteUnsearchedRefusal puts what was really done into a refusal of a run that did not look into the documents.
func (w *Runner) rewriteUnsearchedRefusal(ctx context.Context) error {
	_, _, _, searches := w.toolContext.Sources.Readings()
	if w.model.isRuleBased() && (searches > 0 || len(w.failedSearches) > 0) {
		return nil // it says by itself what it did
	}
	return w.replaceByRefusal(ctx, "Nothing was found because nothing was searched to its end: the answer says so")
}

// replaceByRefusal replaces an answer by the refusal sentence (english.Refusal), which explainInRefusal goes on
// from. why is the message of its step.
func (w *Runner) replaceByRefusal(ctx context.Context, why string) error {
	step := w.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete, why)
	if err := w.log.takeAnswerBack(ctx, step); err != nil {
		return err
	}
	return w.log.writer.Write(ctx, english.Refusal)
}

// explainInRefusal adds to a bare refusal, the model's or the program's, what was searched, the headings that come
// nearest, and that a file may be missing: what somebody can go on with. What the model wrote stays as it is. It goes
// on from the sentence as text, so that readers and clients who compare its beginning know it.
func (w *Runner) explainInRefusal(ctx context.Context, answer string) (string, error) {
	if w.givenText() || strings.TrimSpace(answer) != english.Refusal ||
		!w.asked.NeedsDocuments() && !w.searchedDocuments() {
		return answer, nil
	}
	if err := w.log.writer.WriteWords(ctx, w.describeSearches()+w.wayOn()); err != nil {
		return "", err
	}
	return w.log.writer.Finish(ctx)
}

// mostNear is how many headings a refusal names: more than three are no hint any more.
const mostNear = 3

// wayOn names the sections of the passages that searches found first, and says that a file may be missing. It says
// nothing where no search was completed: then that is the reason.
func (k *knowledge) wayOn() string {
	if !k.searchedDocuments() {
		return ""
	}
	var near []string
	for _, src := range k.toolContext.Sources.All() {
		at := strings.Split(src.Passage.Section, "›")
		heading := strings.TrimSpace(at[len(at)-1])
		if heading == "" || strings.EqualFold(heading, src.Document.Title) {
			continue
		}
		if near = text.AppendNew(near, "“"+text.EscapeMarkdown(text.Shorten(heading, 80))+"” in "+
			text.EscapeMarkdown(src.Document.DisplayName())); len(near) == mostNear {
			break
		}
	}
	said := ""
	if len(near) == 1 {
		said = " The nearest heading is " + near[0] + "."
	} else if len(near) > 1 {
		said = " The nearest headings are " + english.List(near) + "."
	}
	return said + " If the document that says it is missing here, add it and ask again."
}

// describeSearches says which searches were completed and which were not, from what the tools returned. It begins with
// a space, to stand behind the refusal sentence, and claims nothing that a tool did not return.
func (s *state) describeSearches() string {
	readDocs, _, _, searches := s.toolContext.Sources.Readings()
	said := ""
	if searches > 0 {
		said += " I searched for: " + text.Shorten(s.toolContext.Sources.SearchedFor(), 300) + "."
	}
	if len(readDocs) > 0 {
		names := make([]string, len(readDocs))
		for i, doc := range readDocs {
			names[i] = doc.DisplayName()
		}
		said += " I read: " + strings.Join(names, "; ") + "."
	}
	for _, message := range s.failedSearches {
		said += " “" + message + "” failed, so your documents may still hold it."
	}
	if said == "" {
		said = " Nothing was searched"
		if s.set.SearchTool() == nil {
			said += ", because none of the tools that were allowed searches documents"
		}
		said += "."
	}
	if s.budget.stop == chat.StopTimeout {
		said += " The time for this question was used up."
	}
	return said
}

// errUnsupported is why an answer is held back: nothing in it rests on the documents.
var errUnsupported = errors.New("no claim of the answer is supported")

// holdBack takes an answer away from the reader. The documents are quoted instead, which again reports; without a
// fallback that quotes, the run ends. When a person kept calls from running, that is the answer instead. Nothing of it
// is shown, so a fabricated answer never stands (docs/decisions/support.md).
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

// answerRejectedCalls puts in place of a reply that rests on nothing what is certain: that the calls were not made, and
// why. The calls are named by the messages of their steps, which readers have seen.
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
