package run

import (
	"context"
	"strings"

	"footnote/chat"
)

// rejection is why a call that waited for a person did not run.
type rejection struct {
	status  chat.Status // of its step
	summary string      // likewise
	because string      // for the answer
	told    string      // the model
}

var (
	denied = rejection{
		chat.StatusSkipped, "denied by you", ", because you denied it",
		"The user denied this call. Do not make it again; go on without it.",
	}
	unfit = rejection{
		chat.StatusSkipped, "the tool does not take your input", ": the tool does not take the input that you gave it",
		"The user gave this call another input, which the tool does not take. Go on without it.",
	}
	unheard = rejection{
		chat.StatusSkipped, "nobody approved it in time", ": nobody approved it in time",
		"Nobody approved this call in time. Answer from what you have.",
	}
	hurried = rejection{
		chat.StatusCancelled, "you wanted the answer now", ": you wanted the answer before it was approved",
		"The user wants the answer now.",
	}
)

// rejectedCall is a call that a person kept from running.
type rejectedCall struct {
	message string // what it was about to do
	why     rejection
	acts    bool // it would have changed something elsewhere: there may be nothing else to say
}

// rejectCall ends a call before it runs.
func (w *Runner) rejectCall(a *toolCall, why rejection) {
	a.refuse(why.status, why.told, nil)
	a.step.Summary, a.step.Error, a.step.Details = why.summary, nil, map[string]any{"approved": false}
	w.rejected = append(w.rejected, rejectedCall{a.step.Message, why, a.tool.HasEffects})
}

// restoreRejected remembers a call of the log that a person kept from running.
func (w *Runner) restoreRejected(s chat.Step) {
	if allowed, said := s.Details["approved"].(bool); !said || allowed {
		return
	}
	for _, why := range []rejection{denied, unfit, unheard, hurried} {
		if s.Status == why.status && s.Summary == why.summary {
			w.rejected = append(w.rejected, rejectedCall{s.Message, why, w.set.HasEffects(s.ToolName)})
		}
	}
}

// onlyRejectedCalls reports whether a reply has no footnotes because a person rejected calls. Then it is useless to ask
// for footnotes or to search. If the documents may answer the question as well, the run searches them once.
func (w *Runner) onlyRejectedCalls() bool {
	for _, call := range w.rejected {
		if call.acts && w.toolContext.Sources.IsEmpty() || w.nudged[nudgeSearch] || w.nudged[nudgeTools] || w.stop != "" {
			return true
		}
	}
	return false
}

// answerRejectedCalls puts in place of a reply that rests on nothing what is certain: that the calls were not made,
// and why.
func (w *Runner) answerRejectedCalls(ctx context.Context) error {
	step := w.newStep(
		"review", chat.ActionAnalysing, chat.StatusComplete,
		"The answer rested on no document: it says what was not done instead",
	)
	if err := w.takeBack(ctx, step); err != nil {
		return err
	}
	w.answeredRejected = true
	var said []string
	for _, call := range w.rejected {
		said = append(said, "“"+call.message+"” was not done"+call.why.because+".")
	}
	return w.writer.Write(ctx, strings.Join(said, " "))
}
