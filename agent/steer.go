package agent

import (
	"context"
	"encoding/json"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Cancel cancels a run, on whichever server it is: its model request and its tools end at once, followed by
// run_done. It returns CodeConflict for a run that is over.
func (r *Runs) Cancel(ctx context.Context, s chat.Scope, runID string) error {
	return r.steerRun(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandCancel})
}

// AnswerNow makes a run answer from its current sources, on whichever server it is. It returns CodeConflict for a
// run that is over.
func (r *Runs) AnswerNow(ctx context.Context, s chat.Scope, runID string) error {
	return r.steerRun(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandAnswerNow})
}

// steerRun applies a command at once if the run is active here, and stores it for the server that has the run or
// takes it over. A command to a local run is stored as well, so that it survives a crash of this server.
func (r *Runs) steerRun(ctx context.Context, s chat.Scope, w chat.Command) error {
	c, err := r.findControl(ctx, s, w.RunID)
	if err != nil {
		return err
	}
	if c != nil {
		applyCommand(c, w)
		if r.cfg.Exclusive {
			return nil
		}
		err := r.storeCommand(context.WithoutCancel(ctx), s, w)
		if err != nil && chat.CodeOf(err) != chat.CodeConflict { // not a conflict: a run that ended needs no command
			r.cfg.Log.WarnContext(
				ctx, "could not forward a command to other servers", "run", w.RunID, "command", w.Kind, "error", err,
			)
		}
		return nil
	}
	return r.storeCommand(ctx, s, w)
}

// storeCommand stores a command and calls Look, so that this server applies it at once if the run came here in
// between.
func (r *Runs) storeCommand(ctx context.Context, s chat.Scope, w chat.Command) error {
	if err := r.cfg.Store.AddCommand(ctx, s, w); err != nil {
		return err
	}
	r.Poll()
	return nil
}

// findControl returns the control of an active run, nil if another server works on it. It returns an error for a run
// that is over, and for one of another user.
func (r *Runs) findControl(ctx context.Context, s chat.Scope, runID string) (*run.Control, error) {
	r.mu.Lock()
	c, ok := r.active[runID]
	r.mu.Unlock()
	if ok && c.User() == s.User {
		return c, nil
	}
	stored, err := r.cfg.Store.Run(ctx, s, runID)
	if err != nil {
		return nil, err
	}
	if stored.Status != chat.RunRunning {
		return nil, &chat.Error{Code: chat.CodeConflict, Message: "This answer is already finished."}
	}
	return nil, nil
}

// applyCommand applies a command to a local run and reports whether it had an effect. Applying it twice is safe.
func applyCommand(c *run.Control, w chat.Command) bool {
	switch w.Kind {
	case chat.CommandCancel:
		c.Cancel()
	case chat.CommandAnswerNow:
		c.AnswerNow()
	case chat.CommandApprove, chat.CommandDeny:
		return c.Decide(w.CallID, w.Kind == chat.CommandApprove, w.Input)
	}
	return true
}

// Poll makes the server poll for free runs and new commands. It does not block. The channel buffers one signal, so
// any number of calls cause one poll.
func (r *Runs) Poll() {
	select {
	case r.look <- struct{}{}:
	default: // a signal is pending
	}
}

// applyCommands applies the stored commands to active runs. It reads the store only while a run is active or being
// stored. Commands stay in the store until their run is over, so each is applied repeatedly; applying it again has
// no effect.
func (r *Runs) applyCommands(ctx context.Context) {
	r.mu.Lock()
	idle := len(r.active)+r.begun == 0
	r.mu.Unlock()
	if idle {
		return
	}
	commands, err := r.cfg.Store.Commands(ctx, r.cfg.Owner)
	if err != nil {
		if ctx.Err() == nil {
			r.cfg.Log.ErrorContext(ctx, "could not load commands for runs", "error", err)
		}
		return
	}
	r.starting.Lock() // a stored run is active by then
	defer r.starting.Unlock()
	for _, w := range commands {
		r.mu.Lock()
		c, ok := r.active[w.RunID]
		r.mu.Unlock()
		if ok {
			applyCommand(c, w)
		}
	}
}

// Approve lets a waiting call run, with another input if one is given; a nil input keeps the model's own. Errors:
// CodeNotFound for a call that never waited; CodeConflict for a decided call or a run that is over; CodeInvalid for
// an input that the tool refuses.
func (r *Runs) Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error {
	return r.decideCall(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandApprove, CallID: callID, Input: input})
}

// Deny rejects a waiting call, which the model is informed of. It returns the errors of Approve.
func (r *Runs) Deny(ctx context.Context, s chat.Scope, runID, callID string) error {
	return r.decideCall(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandDeny, CallID: callID})
}

// decideCall applies one decision on a call. The input is validated against the tool's schema first, so that the
// user gets a validation error at once. An exclusive server applies the decision directly. Otherwise the command is
// stored first, and its unique row resolves concurrent decisions; then it is applied here if the run is local.
func (r *Runs) decideCall(ctx context.Context, s chat.Scope, w chat.Command) error {
	c, err := r.findControl(ctx, s, w.RunID)
	if err != nil {
		return err
	}
	t, err := r.undecidedTool(ctx, s, c, w)
	if err != nil {
		return err
	}
	if w.Input != nil && t != nil {
		if w.Input, err = t.Normalise(w.Input, nil); err != nil {
			return chat.Invalid("Invalid input for {1}: {2}.", t.Name, text.Shorten(err.Error(), 400))
		}
	}
	if c == nil || !r.cfg.Exclusive {
		if err := r.storeCommand(ctx, s, w); err != nil || c == nil {
			return err
		}
	}
	if !applyCommand(c, w) && r.cfg.Exclusive {
		return run.ErrDecided
	}
	return nil
}

// undecidedTool returns an error unless the call waits for a decision. It returns the call's tool, nil if this
// server currently lacks it. For a run on another server the stored log is checked.
func (r *Runs) undecidedTool(ctx context.Context, s chat.Scope, c *run.Control, w chat.Command) (*tools.Tool, error) {
	if c != nil {
		if t, known, err := c.Undecided(w.CallID); known || err != nil {
			return t, err
		}
	}
	now, err := r.cfg.Store.Run(ctx, s, w.RunID)
	if err != nil {
		return nil, err
	}
	log, err := r.engine.ReadLog(ctx, now)
	if err != nil {
		return nil, err
	}
	step, err := run.PendingCall(log, w.CallID)
	if err != nil {
		return nil, err
	}
	t, err := r.engine.FindTool(ctx, now.Request, step.ToolName)
	if err != nil { // a toolset of an older version: the run's server validates
		return nil, nil
	}
	return t, nil
}
