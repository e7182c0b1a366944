package run

import (
	"context"
	"errors"
	"strings"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

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

// replaceByRefusal replaces an answer by the refusal sentence (ground.RefusalSentence), which explainInRefusal goes on
// from. why is the message of its step.
func (w *Runner) replaceByRefusal(ctx context.Context, why string) error {
	step := w.log.newStep("review", chat.ActionAnalysing, chat.StatusComplete, why)
	if err := w.log.takeAnswerBack(ctx, step); err != nil {
		return err
	}
	return w.log.writer.Write(ctx, ground.RefusalSentence)
}

// explainInRefusal adds to a bare refusal, the model's or the program's, what was searched, the headings that come
// nearest, and that a file may be missing: what somebody can go on with. What the model wrote stays as it is. It goes
// on from the sentence as text, so that readers and clients who compare its beginning know it.
func (w *Runner) explainInRefusal(ctx context.Context, answer string) (string, error) {
	if w.givenText() || strings.TrimSpace(answer) != ground.RefusalSentence ||
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
