package run

import (
	"context"
	"fmt"

	"footnote/chat"
	"footnote/llm"
)

// turnModel returns the model for the next turn. A cheaper model, if there is one, chooses the tools, and nobody is
// shown what it says. The run's own model writes the answer.
func (w *Runner) turnModel() (model llm.Model, chooses bool) {
	s := w.cfg.Select
	if s == nil || w.selectorFailed || w.onFallback || w.givenText() || w.stop != "" || w.enough || w.direct ||
		s.Name() == w.model.Name() {
		return w.model, false
	}
	return s, true
}

// declined reports whether the model that only chooses wants no further tools. The next turn is then the answer, and
// both turns are one.
func (w *Runner) declined(r reply, aside []llm.Message) bool {
	if !r.chooses {
		return false
	}
	if _, _, ends := w.finishAnswer(r); !ends && len(r.calls) > 0 {
		return false
	}
	w.enough, w.aside = true, aside
	w.turns--
	return true
}

// chooseAlone lets the run's own model choose from now on, and says why.
func (w *Runner) chooseAlone(ctx context.Context, e *llm.Error) error {
	w.selectorFailed = true
	name := w.cfg.Select.Name()
	w.cfg.Log.WarnContext(
		ctx, "the model that chooses tools failed", "run", w.run.ID, "model", name, "kind", e.Kind, "error", e,
	)
	step := w.newStep("choose", chat.ActionThinking, chat.StatusError, fmt.Sprintf(
		"The model %s failed: %s chooses itself", name, w.model.Name(),
	))
	reason, _ := explainFailure(e)
	step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: fmt.Sprintf(
		"The model %s can't answer, because %s.", name, reason,
	), Retryable: e.Retryable()}
	return w.emit(ctx, step)
}
