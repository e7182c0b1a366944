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
	"github.com/footnote/footnote/text/locale"
)

// review is the state of the current answer's review. It is not restored after a restart: an answer that was not
// stored is written again.
type review struct {
	author    author
	judgement judgement // the model's
	earlier   *draft    // best answer so far, while the run tries to improve it
}

// Prompts for the retry of an insufficient answer. Each is used once in a run. If the model repeats the mistake, the
// answer is held back or replaced.
const (
	nudgeEmpty  remedy = "Your reply was empty. Answer the question now, or call a tool."
	nudgeSearch remedy = "You have not searched the documents. Search them before you answer; if they do not hold " +
		"the answer, say so with the agreed sentence."
	nudgeTools remedy = "Nothing that your tools returned bears your answer out, and none of your tools searches " +
		"documents. Say only what they returned, or begin with the agreed sentence."
	nudgeCite remedy = "Your answer has no footnotes. Write the same answer again and put the number n of the " +
		"passage behind each claim, like [3]. Leave out what no passage supports."
)

// nudgeOther follows calls that rules chose, since the same prompt again would get the same answer. It is used once,
// since rules choose once.
const nudgeOther remedy = "The passages above may not hold the answer. Search in other words, or read on where they " +
	"stand, then answer."

const nudgeSupport remedy = "None of your sentences is supported by the passages behind its footnotes. Write the " +
	"answer again from the words of the passages alone, " +
	"with the right number behind each claim. If the passages do not hold the answer, begin with the agreed sentence " +
	"instead."

// reviewReply reviews a finished reply. true means that the reply was taken back and the model retries. The order of
// the checks matters: an empty reply before a refusal, a refusal before its footnotes, rejected calls before a
// further search. remedies records each retry, so a model that repeats itself ends the loop.
func (w *Runner) reviewReply(ctx context.Context, r reply, text string) (again bool, err error) {
	if err := w.acceptUnsearched(ctx, text); err != nil {
		return false, err
	}
	if strings.TrimSpace(text) == "" || !w.model.isRuleBased() && w.needsFootnotes() &&
		repeatsQuestion(text, w.run.Request.Message) {
		if w.remedies[nudgeEmpty] {
			return true, w.model.fallBack(ctx, &llm.Error{Kind: llm.KindEmpty, Message: "the model's reply was empty"})
		}
		return true, w.retryReply(ctx, nudgeEmpty, "The model said nothing: asking again", r)
	}
	// rules chose the calls, and their results did not suffice: now the model chooses
	if w.phase.isChosen() && !w.remedies[pipelineRun] && w.budget.stop == "" &&
		w.model.toolSelection() != tools.SelectRules &&
		(cite.IsRefusal(text) ||
			len(w.cite.Citations) == 0 && w.needsFootnotes() && !w.evidence.UsesOnlyContext(text) &&
				!w.restsOnTools(text)) {
		w.phase = gathering
		step := w.log.newStep(
			"choose", chat.ActionPlanning, chat.StatusComplete, "What rules chose did not suffice: the model chooses",
		)
		step.Details = map[string]any{"selection": w.model.toolSelection(), "by": "model"}
		w.messages.ephemeral = []llm.Message{{Role: llm.RoleUser, Aside: true, Text: string(nudgeOther)}}
		return true, w.log.retractAnswer(ctx, step)
	}
	// a refusal is a statement about the documents, so they must have been searched
	if cite.IsRefusal(text) && !w.givenText() && w.asked.NeedsDocuments() && !w.searchedDocuments() {
		if w.firstCalls == nil { // the model made no calls: rules search now
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
		// the model may have overlooked the passage; quotes have their own confidence
		return true, w.model.switchToQuotes(
			ctx, locale.Message(w.model.model.Name()+" found no answer: quoting what is nearest instead"),
		)
	}
	// from here on a language model wrote the answer, and it should rest on documents
	if w.givenText() || cite.IsRefusal(text) || w.model.isRuleBased() || w.evidence.UsesOnlyContext(text) {
		return false, nil // the fallback cites what it takes from documents; the rest needs no footnotes
	}
	// an answer in another language shares no words with the passages
	if w.cite.ByModel() > 0 && w.asked.Reference != question.Rework {
		return w.validateFootnotes(ctx, r, text)
	}
	if !w.needsFootnotes() || w.restsOnTools(text) {
		if w.asked.Reference == question.Rework && w.mustCite() { // with the footnotes of the previous answer
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
		// before a retry: many models never write a number, and a turn of a small model takes a minute
		if ok, err := w.rewriteWithFootnotes(ctx, text); ok || err != nil {
			return false, err
		}
		if w.remedies[nudgeCite] {
			return w.withholdAnswer(ctx)
		}
		return true, w.retryReply(ctx, nudgeCite, "The answer had no footnotes: asking for them", r)
	case w.set.SearchTool() == nil && w.budget.stop == "" && !w.remedies[nudgeTools]:
		return true, w.retryReply(ctx, nudgeTools, "No tool bore the answer out: asking for one that they do", r)
	case w.set.SearchTool() != nil && searches == 0 && w.budget.stop == "" && !w.remedies[nudgeSearch]:
		return true, w.retryReply(ctx, nudgeSearch, "Nothing was searched yet: asking the model to search", r)
	case searches == 0 && w.quotedEarlier(text):
		return false, nil // answered from the conversation
	default:
		if searches == 0 {
			if rescued, err := w.fallBackToPipeline(ctx); rescued || err != nil {
				w.messages.ephemeral = nil
				return rescued, err
			}
			if w.set.SearchTool() == nil && len(w.evidence.FactualClaims(text)) > 0 {
				return w.withholdAnswer(ctx)
			}
		}
		return false, w.replaceByRefusal(ctx, "The answer rested on no document: taken back")
	}
}

// retryReply takes the reply back and prompts the model to correct it. The reply and the prompt are sent with the next
// turn only: the history keeps no failed attempts, which models imitate. If rules chose the calls, the phase stays:
// in answeringPreselected the model gets no tools for the retry.
func (w *Runner) retryReply(ctx context.Context, what remedy, message locale.Message, r reply) error {
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
	return w.log.retractAnswer(ctx, step)
}

// validateFootnotes checks an answer that has footnotes. One without a single supported claim is retried once, then
// held back. One claim that may paraphrase its passage is enough to keep the answer, since its evaluation judges
// each sentence.
func (w *Runner) validateFootnotes(ctx context.Context, r reply, text string) (again bool, err error) {
	if !w.mustCite() {
		return false, nil
	}
	held := w.evidence.AnyResembles(text)
	if held && !w.model.isSmall() { // a small model writes correct sentences with wrong numbers
		return false, nil
	}
	if ok, err := w.rewriteWithFootnotes(ctx, text); ok || held || err != nil {
		return false, err
	}
	if w.remedies[nudgeSupport] {
		return w.withholdAnswer(ctx)
	}
	return true, w.retryReply(ctx, nudgeSupport, "No footnote held: asking for an answer from the passages", r)
}

// rewriteWithFootnotes adds footnotes to an answer with none, or with none that holds: it cites each sentence that a
// passage supports. If fewer than half of the factual sentences are supported, it does nothing and ok is false. The
// streamed text is taken back and written again, so that stored events stay in order. The limit of half was set
// together with the 70 % threshold for a sentence (docs/decisions/support.md).
func (w *Runner) rewriteWithFootnotes(ctx context.Context, answer string) (ok bool, err error) {
	marked, placed, stated := w.evidence.WithPlacedFootnotes(answer)
	if placed == 0 || 2*placed < stated {
		return false, nil
	}
	if w.cite.ByModel() == 0 && w.evidence.CountCited(answer) >= placed {
		return true, nil
	}
	step := w.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete,
		locale.Say(
			"No valid footnotes from the model: added to {1} of {2}",
			locale.Count(placed, "sentence"),
			strconv.Itoa(
				stated,
			),
		))
	stray := w.cite.StrayNumbers
	if err := w.log.retractAnswer(ctx, step); err != nil {
		return false, err
	}
	w.cite.StrayNumbers = stray // the sentences are the model's, and so are the stray numbers
	return true, w.log.writer.WriteAdded(ctx, marked)
}

// lastReply returns the written answer as the last reply of the run, or err if writing failed. It is for answers
// that the program wrote or restored, which are not reviewed.
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

// finishAnswer returns the final answer. A bare refusal is extended by a description of the run's searches.
func (w *Runner) finishAnswer(ctx context.Context) (string, error) {
	text, err := w.log.writer.Finish(ctx)
	if err == nil && cite.IsRefusal(text) {
		return w.explainInRefusal(ctx, text)
	}
	return text, err
}

// lastEvents returns the last events of an answered run, without run_done. They are stored in one batch with
// run_done, so that no reader sees an answer of a run that seems to continue.
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

// answerEvents builds the events that end an answered run, without run_done. A refusal has no citations and no
// confidence; its sources are the documents that were read. The offline model's rating of its quotes (llm.Found)
// caps the confidence and sets the kind of finding. It stores nothing, and caches the choice of tools that led to
// the answer.
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
		if note := w.budget.spentNote(); note != "" { // the stop reason is that of the refusal
			cut = append(cut, a.Forms.Say(note))
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

// explainRefusal returns the self-evaluation of a refusal. “Nothing was found” is a statement about the documents
// only after a completed search. A given text needs no search: the model read all of it.
func (k *knowledge) explainRefusal() string {
	if !k.givenText() && !k.searchedDocuments() {
		return "Whether the documents answer this is not known: no search in them was completed."
	}
	return "Nothing that was found answers this."
}

// rewriteUnsearchedRefusal replaces a refusal without a completed search by one that describes the actual searches.
func (w *Runner) rewriteUnsearchedRefusal(ctx context.Context) error {
	_, _, _, searches := w.toolContext.Sources.Readings()
	if w.model.isRuleBased() && (searches > 0 || len(w.failedSearches) > 0) {
		return nil // the fallback's refusal already describes its searches
	}
	return w.replaceByRefusal(ctx, "Nothing was found because nothing was searched to its end: the answer says so")
}

// replaceByRefusal replaces an answer by the refusal sentence (english.Refusal), which explainInRefusal extends. why
// is the message of its step.
func (w *Runner) replaceByRefusal(ctx context.Context, why locale.Message) error {
	step := w.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete, why)
	if err := w.log.retractAnswer(ctx, step); err != nil {
		return err
	}
	return w.log.writer.Write(ctx, english.Refusal)
}

// explainInRefusal extends a bare refusal, the model's or the program's, so that the user can continue. It adds the
// searches, the nearest headings, and a hint that a document may be missing. The refusal sentence stays the
// beginning of the text, so that readers and clients that compare it recognise it.
func (w *Runner) explainInRefusal(ctx context.Context, answer string) (string, error) {
	if w.givenText() || strings.TrimSpace(answer) != english.Refusal ||
		!w.asked.NeedsDocuments() && !w.searchedDocuments() {
		return answer, nil
	}
	if err := w.log.writer.WriteWords(ctx, w.describeSearches()+w.refusalAdvice()); err != nil {
		return "", err
	}
	return w.log.writer.Finish(ctx)
}

// mostNear is the number of headings that a refusal names. More than three are no useful hint.
const mostNear = 3

// refusalAdvice returns sentences with the headings of the first retrieved passages and the hint that a document may be
// missing. It is empty without a completed search, since then that is the reason.
func (k *knowledge) refusalAdvice() string {
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

// describeSearches describes the completed and failed searches, from the tools' results only. It begins with a
// space, since it follows the refusal sentence.
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

// errUnsupported is the reason for holding an answer back: no claim of it is supported by the documents.
var errUnsupported = errors.New("no claim of the answer is supported")

// withholdAnswer takes an unsupported answer back, so that a fabricated answer is never shown
// (docs/decisions/support.md). The fallback quotes the documents instead, and again is true; without a fallback the run
// fails. If calls were rejected, the answer reports that instead.
func (w *Runner) withholdAnswer(ctx context.Context) (again bool, err error) {
	if len(w.calls.rejected) > 0 {
		return false, w.answerRejectedCalls(ctx)
	}
	if w.cfg.Fallback != nil && !w.model.isRuleBased() {
		return true, w.model.switchToQuotes(
			ctx, "No claim of the answer could be verified: quoting the documents instead",
		)
	}
	step := w.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusError, "No claim of the answer could be verified: it was held back",
	)
	failed := &chat.Error{
		Code: chat.CodeGuardrail, Err: errUnsupported,
		Message: "No answer with valid footnotes could be written. Rephrase the question, or ask about one thing at " +
			"a time.",
	}
	step.Error = chat.NewStepError(failed.Code, failed.Message, false)
	if err := w.log.retractAnswer(ctx, step); err != nil {
		return false, err
	}
	return false, failed
}

// onlyRejectedCalls reports whether a reply has no footnotes because calls were rejected. Then another search or a
// request for footnotes is useless. If the documents may answer the question too, the run first searches them once.
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

// answerRejectedCalls replaces an unsupported reply by a report of the calls that were not made, with the reasons.
// It names the calls by the messages of their steps, which readers have seen.
func (w *Runner) answerRejectedCalls(ctx context.Context) error {
	step := w.log.newStep(
		"review", chat.ActionAnalysing, chat.StatusComplete,
		"The answer rested on no document: it says what was not done instead",
	)
	if err := w.log.retractAnswer(ctx, step); err != nil {
		return err
	}
	w.review.author = reportOfRejected
	var said []string
	for _, call := range w.calls.rejected {
		said = append(said, "“"+call.message+"” was not done"+call.why.because+".")
	}
	return w.log.writer.Write(ctx, strings.Join(said, " "))
}
