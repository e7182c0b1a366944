package agent

import (
	"context"
	"encoding/json"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Cancel stops a run, on whichever server it is: its model's request and its tools end at once, and run_done follows.
// A run that is over fails with CodeConflict.
func (r *Runs) Cancel(ctx context.Context, s chat.Scope, runID string) error {
	return r.steerRun(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandCancel})
}

// AnswerNow makes a run answer from what it has, on whichever server it is. A run that is over fails with CodeConflict.
func (r *Runs) AnswerNow(ctx context.Context, s chat.Scope, runID string) error {
	return r.steerRun(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandAnswerNow})
}

// steerRun applies a command at once if the run is here. The command is kept for another server that has it, or takes
// it over. A command to a run that is here acts at once and is stored as well, so that it survives the death of this
// server.
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
		if err != nil && chat.CodeOf(err) != chat.CodeConflict { // not because it ended, as was wanted
			r.cfg.Log.WarnContext(
				ctx, "a command is known to this server only", "run", w.RunID, "command", w.Kind, "error", err,
			)
		}
		return nil
	}
	return r.storeCommand(ctx, s, w)
}

// storeCommand stores a command. If its run came here in between, it is found here. Look makes this server read its own
// commands at once instead of at the next tick.
func (r *Runs) storeCommand(ctx context.Context, s chat.Scope, w chat.Command) error {
	if err := r.cfg.Store.AddCommand(ctx, s, w); err != nil {
		return err
	}
	r.Look()
	return nil
}

// findControl returns a run under way: nil if another server works on it. It fails for a run that is over, and for one
// that the user may not see.
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
		return nil, &chat.Error{Code: chat.CodeConflict, Message: "This answer is finished already."}
	}
	return nil, nil
}

// applyCommand applies a command to a run that is here, and reports whether that changed anything. It may be asked for
// the same again.
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

// Look makes the server look for runs that it can take over and for what is wanted of its own. It does not block. The
// channel holds one signal, so any number of calls make one look.
func (r *Runs) Look() {
	select {
	case r.look <- struct{}{}:
	default: // it will
	}
}

// applyCommands applies the stored commands to the runs under way. It asks the store only while a run is here or being
// stored. Commands stay in the store until their run is over, so each of them comes again and again; what was applied
// before changes nothing.
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
			r.cfg.Log.ErrorContext(ctx, "what is wanted of the runs could not be read", "error", err)
		}
		return
	}
	r.starting.Lock() // a run that is stored is active by then
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

// Approve lets a call that waits run, with another input if one is given. It fails with CodeNotFound for a call that
// never waited, CodeConflict for one that was decided and for a run that is over, and CodeInvalid for an input that the
// tool does not take. A nil input leaves the model's own.
func (r *Runs) Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error {
	return r.decideCall(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandApprove, CallID: callID, Input: input})
}

// Deny keeps a call that waits from running; the model is told. It fails as Approve does.
func (r *Runs) Deny(ctx context.Context, s chat.Scope, runID, callID string) error {
	return r.decideCall(ctx, s, chat.Command{RunID: runID, Kind: chat.CommandDeny, CallID: callID})
}

// decideCall settles on one verdict about a call. With other servers beside this one, the stored command decides
// between two that come at once. The input is checked against the tool's schema here too, so that a person hears at
// once what does not fit. A server that is alone with its store applies the verdict directly. With others beside it the
// command is stored first, and its unique row decides which of two verdicts counts; only then is it applied here, if
// the run is here.
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
			return chat.Invalid("%s does not take this input: %s", t.Name, text.Shorten(err.Error(), 400)+".")
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

// undecidedTool fails unless the call waits for a decision. It returns the call's tool, nil if this server has no such
// tool at the moment. A run that is elsewhere is judged by its log: the call must wait there.
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
	if err != nil { // a toolset of an older version: the run's server has the last word
		return nil, nil
	}
	return t, nil
}
