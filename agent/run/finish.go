package run

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"footnote/chat"
)

// endTime is how long the last events of a run may take to be stored, tries in all.
const endTime = 20 * time.Second

// do carries a run from its beginning, or from where its log ends, to its answer.
func (w *Runner) do(ctx context.Context, log []chat.Event) ([]chat.Payload, error) {
	if w.run.Unreadable {
		return nil, ErrUnreadable
	}
	if len(log) == 0 && w.run.Request.From != nil {
		if err := w.branch(ctx); err != nil {
			return nil, err
		}
	} else if len(log) == 0 {
		if err := w.guardInput(ctx); err != nil {
			return nil, err
		}
		if err := w.begin(ctx); err != nil {
			return nil, err
		}
		if last, ok, err := w.openAsked(ctx); ok || err != nil {
			return last, err
		}
		if err := w.makePlan(ctx); err != nil {
			return nil, err
		}
	} else if over, err := w.resume(ctx, log); over || err != nil {
		return nil, err
	} else if last, ok, err := w.openAsked(ctx); ok || err != nil {
		return last, err
	}
	if err := w.searchParts(ctx); err != nil {
		return nil, err
	}
	if err := w.preselectTools(ctx); err != nil {
		return nil, err
	}
	return w.loop(ctx)
}

// ending is how a run ended here.
type ending struct {
	Over     bool        // its end is stored: by this server, or another
	Unstored error       // why its end could not be stored; nil unless so
	Tokens   chat.Tokens // to be charged to its user
}

// Execute carries a run from where its log ends to its end, and stores all of it. log is nil for a new run; unstored
// is why an earlier end of it could not be stored here, nil for none.
func (w *Runner) Execute(log []chat.Event, unstored error) ending {
	w.fresh, w.unstored = len(log) == 0, unstored
	ctx := w.control.ctx
	return w.finish(ctx, func() ([]chat.Payload, error) { return w.do(ctx, log) })
}

// Wait waits for calls that outlived their run. They end by their own contexts.
func (w *Runner) Wait() { w.tools.Wait() }

// finish runs do and ends the log, whatever happens: exactly one run_done, even if the context is gone or the code
// panics.
func (w *Runner) finish(ctx context.Context, do func() ([]chat.Payload, error)) ending {
	last, err := func() (last []chat.Payload, err error) {
		defer func() {
			if p := recover(); p != nil {
				w.cfg.Log.ErrorContext(ctx, "run panicked", "run", w.run.ID, "panic", p, "stack", string(debug.Stack()))
				err = &chat.Error{
					Code:    chat.CodeInternal,
					Message: "Something went wrong on the server. Try again; the log has the details.",
				}
			}
		}()
		return do()
	}()
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if errors.Is(err, errLost) || chat.CodeOf(orNone(err)) == chat.CodeConflict {
		w.cfg.Log.WarnContext(ctx, "run is not ours any more", "run", w.run.ID, "error", err)
		return ending{}
	}
	if errors.Is(err, errLeaving) {
		w.handOver(ctx)
		return ending{}
	}
	done := w.used(w.done(ctx, err))
	if err != nil {
		last = append(w.writer.Rest(), w.closed(done)...)
	}
	return w.end(context.WithoutCancel(ctx), append(last, done))
}

// orNone makes CodeOf usable for no error.
func orNone(err error) error {
	if err == nil {
		return &chat.Error{}
	}
	return err
}

// done says how the run ended.
func (w *Runner) done(ctx context.Context, err error) chat.RunDone {
	switch {
	case err == nil:
		return chat.RunDone{Status: chat.RunCompleted}
	case errors.Is(err, errCancelled):
		return chat.RunDone{Status: chat.RunCancelled}
	case errors.Is(err, errRevoked):
		return chat.RunDone{Status: chat.RunCancelled, Error: &chat.StepError{
			Code: chat.CodeUnauthorized, Message: "Your key was revoked before the answer was done.",
		}}
	case errors.Is(err, errStopping):
		return chat.RunDone{Status: chat.RunInterrupted, Error: &chat.StepError{
			Code:    chat.CodeUnavailable,
			Message: "The server was stopped before the answer was done. Press Continue to go on.", Retryable: true,
		}}
	}
	code := chat.CodeOf(err)
	if code == chat.CodeInternal {
		w.cfg.Log.ErrorContext(ctx, "run failed", "run", w.run.ID, "error", err)
	} else {
		w.cfg.Log.WarnContext(ctx, "run failed", "run", w.run.ID, "code", code, "error", err)
	}
	status := chat.RunFailed
	switch {
	case errors.Is(err, errUnsupported):
		status = chat.RunCitationValidationFailed
	case code == chat.CodeGuardrail:
		status = chat.RunGuardrailTriggered
	}
	return chat.RunDone{Status: status, Error: &chat.StepError{
		Code: code, Message: chat.MessageFor(w.run.User, err),
		Retryable: code != chat.CodeInvalid && code != chat.CodeGuardrail,
	}}
}

// used adds to run_done what the run used. For a completed run, its answer says most of it already.
func (w *Runner) used(done chat.RunDone) chat.RunDone {
	done.RetrievalCalls = w.retrievals
	if done.Status != chat.RunCompleted {
		tokens := w.tokens
		done.StepsUsed, done.Tokens, done.Cost = w.turns, &tokens, w.cost
	}
	return done
}

// closed ends the steps that were running, in the order they began.
func (w *Runner) closed(done chat.RunDone) []chat.Payload {
	var steps []*chat.Step
	for _, s := range w.open {
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b *chat.Step) int {
		if len(a.CallID) != len(b.CallID) {
			return len(a.CallID) - len(b.CallID)
		}
		return slices.Compare([]byte(a.CallID), []byte(b.CallID))
	})
	var out []chat.Payload
	for _, s := range steps {
		s.Status, s.ToolStatus = chat.StatusCancelled, chat.StatusCancelled
		s.DurationMS, s.Timestamp = int64((stamp()-s.Timestamp)*1000), stamp()
		if s.ToolName != "" {
			why := "The call was stopped."
			if done.Status == "" { // the run goes on
				why = unknownEffect
			}
			s.ToolOutput, s.Result = []byte(`{"error":"`+why+`"}`), &chat.StepResult{Failure: why}
		}
		if done.Status == chat.RunFailed {
			s.Summary = "stopped: the run failed"
		}
		out = append(out, *s)
	}
	w.open = map[string]*chat.Step{}
	return out
}

// end stores the last events. A store that is busy or full for a moment gets more tries; if it stays so, the run is
// left to whoever takes it over. Events that no store can take are left out, and the run ends as failed with that as
// its reason.
func (w *Runner) end(ctx context.Context, last []chat.Payload) ending {
	limit := time.NewTimer(endTime)
	defer limit.Stop()
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		err := w.emit(ctx, last...)
		if err == nil {
			return ending{Over: true, Tokens: w.tokens}
		}
		if errors.Is(err, chat.ErrNotStorable) && len(last) > 1 {
			w.cost = nil
			done := w.used(w.done(ctx, err))
			last = append(w.storable(), done)
			continue
		}
		switch chat.CodeOf(err) {
		case chat.CodeConflict, chat.CodeNotFound:
			w.cfg.Log.WarnContext(ctx, "run ended elsewhere", "run", w.run.ID, "error", err)
			return ending{Over: true}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-limit.C:
			timer.Stop()
			w.cfg.Log.ErrorContext(ctx, "run's end could not be stored", "run", w.run.ID, "error", err)
			return ending{Unstored: err}
		}
	}
}

// storable ends the steps that are open, as far as they can be stored.
func (w *Runner) storable() []chat.Payload {
	return slices.DeleteFunc(w.closed(chat.RunDone{Status: chat.RunFailed}), func(p chat.Payload) bool {
		_, err := chat.NewEvent(w.run.ID, p)
		return err != nil
	})
}
