package run

import (
	"context"

	"footnote/chat"
)

// Steps of a run that is left to another server: the last one here and the first one there.
const (
	handedOver = "handover"
	takenOver  = "takeover"
)

// stopCause returns why the run is not carried on here, nil as long as it is.
func (w *Runner) stopCause(ctx context.Context) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return context.Cause(w.control.leaving)
}

// handOver leaves the run to another server. If that fails, they find it when its lease ends.
func (w *Runner) handOver(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if !w.fresh { // a log does not begin with this
		step := w.newStep(
			handedOver, chat.ActionThinking, chat.StatusComplete,
			"The server is being stopped: another one goes on from here",
		)
		if err := w.takeBack(ctx, step); err != nil {
			w.cfg.Log.WarnContext(ctx, "run is left as it is", "run", w.run.ID, "error", err)
			return
		}
	}
	if err := w.cfg.Store.Release(ctx, w.cfg.Owner, w.run.ID); err != nil {
		w.cfg.Log.WarnContext(ctx, "run could not be released", "run", w.run.ID, "error", err)
		return
	}
	w.cfg.Log.InfoContext(ctx, "a run is left to another server", "run", w.run.ID)
}
