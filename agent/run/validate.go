package run

import (
	"context"
	"errors"

	"footnote/chat"
)

// errUnsupported is why an answer is held back: nothing in it rests on the documents.
var errUnsupported = errors.New("no claim of the answer is supported")

const nudgeSupport = "None of your sentences is supported by the passages behind its footnotes. Write the answer again from the words of the passages alone, " +
	"with the right number behind each claim. If the passages do not hold the answer, begin with the agreed sentence instead."

// validate looks at an answer whose footnotes can be checked. One without a single supported claim is written again
// once, then held back.
func (w *Runner) validate(ctx context.Context, r reply, text string) (again bool, err error) {
	if !w.mustCite() || w.evidence.AnySupported(text) {
		return false, nil
	}
	if w.nudged[nudgeSupport] {
		return false, w.placeOrHoldBack(ctx, text)
	}
	return true, w.askAgain(ctx, nudgeSupport, "No footnote held: asking for an answer from the passages", r)
}

// placeOrHoldBack ends with an answer that the model could not found on passages: with the program's own footnotes
// where they hold, else it is held back.
func (w *Runner) placeOrHoldBack(ctx context.Context, answer string) error {
	if ok, err := w.placeInstead(ctx, answer); ok || err != nil {
		return err
	}
	return w.holdBack(ctx)
}

// holdBack takes an answer away from the reader and ends the run. When a person kept calls from running, that is the
// answer instead.
func (w *Runner) holdBack(ctx context.Context) error {
	if len(w.rejected) > 0 {
		return w.answerRejectedCalls(ctx)
	}
	step := w.newStep(
		"review", chat.ActionAnalysing, chat.StatusError, "No claim of the answer could be verified: it was held back",
	)
	failed := &chat.Error{
		Code: chat.CodeGuardrail, Err: errUnsupported,
		Message: "An answer whose footnotes hold could not be written. Ask in other words, or about one thing at a time.",
	}
	step.Error = &chat.StepError{Code: failed.Code, Message: failed.Message}
	if err := w.takeBack(ctx, step); err != nil {
		return err
	}
	return failed
}
